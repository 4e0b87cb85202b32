package scope

import (
	"cmp"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// sense is the kind of statement that a clause makes. Clauses of one source are listed by it: limits
// first, then permissions for one place, then uses in general.
type sense int

const (
	offline sense = iota - 4
	readOnly
	additive
	idempotent
	permitsPlace // the zero value: the clause says in words which place
	network
	subprocess
	files
)

var senses = map[sense]string{
	offline: "keeps off the network", readOnly: "changes nothing", additive: "only adds, and destroys nothing",
	idempotent: "changes nothing more when it is called again",
	network:    "may use the network", subprocess: "may run programs", files: "may use files",
}

// in returns the clause with a sense.
func (c Clause) in(s sense) Clause {
	c.sense, c.Means = s, senses[s]
	return c
}

// authority orders the sources.
var authority = []report.ScopeSource{report.ScopeSpec, report.ScopeServerJSON, report.ScopeAnnotation, report.ScopeText}

// Clauses returns the scope as it was understood: the highest authority first, and limits before
// permissions. Each declaration has a meaning at most once.
func (s Scope) Clauses() []report.ScopeClause {
	var all []Clause
	for _, kind := range []UseKind{UseEgress, UseRead, UseWrite, UseExec, UseListen} {
		if r, ok := s.rulings[kind]; ok {
			all = append(all, r.whole)
		}
	}
	all = append(all, s.server.clauses()...)
	for _, of := range s.order {
		all = append(all, s.items[of].clauses()...)
	}
	slices.SortStableFunc(all, func(a, b Clause) int {
		return cmp.Or(cmp.Compare(slices.Index(authority, a.Source), slices.Index(authority, b.Source)),
			cmp.Compare(a.sense, b.sense))
	})
	listed := make([]report.ScopeClause, 0, min(len(all), report.MaxScope))
	for _, c := range all[:min(len(all), report.MaxScope)] {
		listed = append(listed, report.ScopeClause{
			Source: c.Source, Capability: c.Capability, Field: c.Field, Means: c.Means, Quote: c.Quote,
		})
	}
	return listed
}

// clauses returns the clauses of one declaration, of those with the same meaning the first.
func (d Declaration) clauses() []Clause {
	all := slices.Concat(d.NoNetwork, d.readOnly, d.said)
	for _, name := range []string{"readOnlyHint", "destructiveHint", "idempotentHint"} {
		if clause, ok := d.hints[name]; ok {
			all = append(all, clause)
		}
	}
	for _, n := range d.named {
		all = append(all, n.clause)
	}
	all = slices.Concat(all, d.Network, d.Subprocess, d.Files)
	type said struct {
		source report.ScopeSource
		means  string
	}
	before := map[said]bool{}
	return slices.DeleteFunc(all, func(c Clause) bool {
		key := said{c.Source, c.Means}
		again := before[key]
		before[key] = true
		return again
	})
}
