package scope

import (
	"cmp"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// rank orders what clauses of one source mean: what limits goes before what allows a
// place, and that before what speaks of a use in general.
var rank = map[string]int{
	"keeps off the network": 1, "changes nothing": 2, "only adds, and destroys nothing": 3,
	"changes nothing more when it is called again": 4,
	"may use the network":                          6, "may run programs": 7, "may use files": 8,
}

const rankOther = 5

// authority orders the sources.
var authority = []report.ScopeSource{report.ScopeSpec, report.ScopeServerJSON, report.ScopeAnnotation, report.ScopeText}

// Clauses are the scope as it was understood, the highest authority first and in it
// what limits the server before what it may do. One declaration says a thing once.
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
			cmp.Compare(cmp.Or(rank[a.Means], rankOther), cmp.Or(rank[b.Means], rankOther)))
	})
	listed := make([]report.ScopeClause, 0, min(len(all), report.MaxScope))
	for _, c := range all[:min(len(all), report.MaxScope)] {
		listed = append(listed, report.ScopeClause{
			Source: c.Source, Capability: c.Capability, Field: c.Field, Means: c.Means, Quote: c.Quote,
		})
	}
	return listed
}

// clauses returns the clauses of one declaration: the first that says a thing.
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
