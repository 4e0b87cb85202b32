package render_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/render"
)

// The scope is told by what is meant, each once, with who says it.
func TestDeclaredScope(t *testing.T) {
	server := report.Capability{Kind: report.CapabilityServer}
	tool := func(name string) report.Capability { return report.Capability{Kind: report.CapabilityTool, Name: name} }
	clauses := []report.ScopeClause{
		{Source: report.ScopeSpec, Capability: server, Field: "egress", Means: "may connect only to a.test, b.test", Quote: "a.test, b.test"},
		{Source: report.ScopeServerJSON, Capability: server, Field: "remotes[0].url", Means: "may connect to c.test", Quote: "https://c.test"},
		{Source: report.ScopeText, Capability: tool("one"), Field: "description", Means: "keeps off the network", Quote: "Works offline\x1b[2J."},
	}
	for i := range 5 {
		clauses = append(clauses, report.ScopeClause{Source: report.ScopeText, Capability: tool(fmt.Sprint(i)), Means: "may use files", Quote: "x"})
	}
	const want = `
Declared scope (with each sentence: -o json)
  operator     may connect only to a.test, b.test
  server.json  may connect to c.test: the server
  text         keeps off the network: tool one ("Works offline\x1b[2J.")
  text         may use files: tool 0, tool 1, tool 2 and 2 more
`
	if got := table(t, clauses); !strings.Contains(got, want) {
		t.Errorf("got %s, want in it %s", got, want)
	}
	if got := table(t, nil); strings.Contains(got, "Declared scope") {
		t.Errorf("a scope of nothing is shown: %s", got)
	}
	for i := range 20 {
		clauses = append(clauses, report.ScopeClause{Source: report.ScopeText, Capability: server, Means: fmt.Sprintf("may run %d", i)})
	}
	if got := table(t, clauses); !strings.Contains(got, "\n  and 12 more\n") || strings.Contains(got, "may run 8") {
		t.Errorf("a long scope is not cut: %s", got)
	}
}

func table(t *testing.T, clauses []report.ScopeClause) string {
	t.Helper()
	var b bytes.Buffer
	if err := render.Table(&b, report.Report{Scope: clauses}, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
