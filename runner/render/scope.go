package render

import (
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// maxClauses and maxOwners bound the lines of the declared scope, and the capabilities in
// each, that are shown; the JSON has all.
const (
	maxClauses = 12
	maxOwners  = 3
)

// sources names where a scope comes from.
var sources = map[report.ScopeSource]string{
	report.ScopeSpec: "operator", report.ScopeServerJSON: "server.json",
	report.ScopeAnnotation: "hint", report.ScopeText: "text",
}

// meaning holds what one or more capabilities declare in the same words.
type meaning struct {
	source report.ScopeSource
	means  string
	of     []report.Capability
	quote  string
}

// declared shows the scope that the server was held to: each meaning once, with its owners.
func (p *page) declared(clauses []report.ScopeClause) {
	var all []*meaning
	for _, c := range clauses {
		var same *meaning
		for _, m := range all {
			if m.source == c.Source && m.means == c.Means {
				same = m
			}
		}
		if same == nil {
			same = &meaning{source: c.Source, means: c.Means, quote: c.Quote}
			all = append(all, same)
		}
		same.of = append(same.of, c.Capability)
	}
	if len(all) == 0 {
		return
	}
	p.line("")
	p.line("Declared scope (with each sentence: -o json)")
	for _, m := range all[:min(len(all), maxClauses)] {
		p.line("  %-12s %s", sources[m.source], Escape(m.String()))
	}
	if more := len(all) - maxClauses; more > 0 {
		p.line("  and %d more", more)
	}
}

// String returns a text such as "may use the network: tool fetch, tool search and 4 more". A
// single owner's sentence is quoted.
func (m *meaning) String() string {
	text := report.Cut(m.means, 160)
	if m.source == report.ScopeSpec {
		return text
	}
	var owners []string
	for _, of := range m.of[:min(len(m.of), maxOwners)] {
		owners = append(owners, report.Cut(owner(of), 60))
	}
	text += ": " + strings.Join(owners, ", ")
	if more := len(m.of) - maxOwners; more > 0 {
		return text + fmt.Sprintf(" and %d more", more)
	}
	if len(m.of) == 1 && m.source == report.ScopeText && m.quote != "" {
		return text + fmt.Sprintf(" (%q)", report.Cut(m.quote, 100))
	}
	return text
}

func owner(of report.Capability) string {
	if of.Kind == report.CapabilityServer {
		return "the server"
	}
	return of.String()
}
