package attack

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// TestChoices: what is one of some texts by its schema leaves its place in a statement, too.
func TestChoices(t *testing.T) {
	of := Target{Of: report.Capability{Kind: report.CapabilityTool, Name: "list"}, Said: "Lists rows of a table.", Honest: json.RawMessage(`{}`),
		Schema: json.RawMessage(`{"type":"object","properties":{"sort":{"type":"string","enum":["name","price"]}}}`)}
	s := Plan{Closed: true}.Against(of)
	for call := 1; ; call++ {
		a, more := s.Next(inputs.Mark{Call: call})
		if !more {
			t.Fatal("no attempt puts a value that is read behind the first choice")
		}
		if a.Family == Query && a.Parse == ParseValid && strings.HasPrefix(a.Value, "name , (SELECT") {
			return
		}
	}
}
