package attack

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestChoices: what is one of some texts by its schema leaves its place in a statement, too.
func TestChoices(t *testing.T) {
	of := Target{Of: report.Capability{Kind: report.CapabilityTool, Name: "list"}, Said: "Lists rows of a table.", Honest: json.RawMessage(`{}`),
		Schema: json.RawMessage(`{"type":"object","properties":{"sort":{"type":"string","enum":["name","price"]}}}`)}
	if !behindChoice(Plan{Closed: true}, of) {
		t.Error("no attempt puts a value that is read behind the first choice")
	}
}

// behindChoice reports whether an attempt puts a value that SQL can read behind the first choice.
func behindChoice(p Plan, of Target) bool {
	return slices.ContainsFunc(against(p, of), func(a Attempt) bool {
		return a.Family == Query && a.Parse == ParseValid && strings.HasPrefix(a.Value, "name , (SELECT")
	})
}

// TestOpened: a database that the server opened before any call is a sign for each of its tools.
func TestOpened(t *testing.T) {
	of := Target{Of: tool, Honest: json.RawMessage(`{}`), Schema: json.RawMessage(`{"type":"object","properties":{"sort":{"type":"string","enum":["name","price"]}}}`)}
	for name, tc := range map[string]struct {
		own  Seen
		want bool
	}{
		"a file":       {Seen{Database: true}, true},
		"a connection": {Seen{Network: true, Ports: []int{5432}}, true},
		"another one":  {Seen{Network: true, Ports: []int{443}}, false},
	} {
		plan := Plan{Closed: true, Seen: map[report.Capability]Seen{{Kind: report.CapabilityServer}: tc.own}}
		if got := behindChoice(plan, of); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
