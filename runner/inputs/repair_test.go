package inputs

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestFutileRepairs: a refusal that recurs whatever was repaired does not keep calls from taking branches, and names
// that it has for properties are no values, however it spells them.
func TestFutileRepairs(t *testing.T) {
	schema := `{"properties":{"project_id":{"type":"string"},"request_iid":{"type":"string"},"source_branch":{"type":"string"},"summary":{"type":"boolean"}},"required":["project_id"]}`
	f := NewForm(json.RawMessage(schema), Options{About: "get_request", Said: "Gets a request (requestIid or branchName required)"})
	for call := range 8 {
		c, _ := f.Next(nil, Mark{Call: call})
		if strings.Contains(string(c.Arguments), `"requestIid"`) {
			t.Errorf("%s has the name of a property as a value", c.Arguments)
		}
		f.Answered(c, false)
		f.Refused(c, "Either requestIid or branchName must be provided; projects are 'red' and 'blue'")
	}
	if left := f.unsent(); left >= 0 {
		t.Errorf("no call has taken branch %d", left)
	}
}
