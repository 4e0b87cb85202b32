package probe

import (
	"strings"
	"testing"
)

// TestFullestArgumentsAreKept: of the calls that were accepted the one with the most in it
// is repeated, and attempts begin with it.
func TestFullestArgumentsAreKept(t *testing.T) {
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any {
			return tools(`{"name":"preview","inputSchema":{"properties":{"edits":{"type":"array","items":{"type":"string"}},"since":{"type":"string"}},"required":["edits"]}}`)
		},
		"tools/call": func(*fake, map[string]any) any { return content("done") },
	}}
	result := f.probe(t, thorough())
	kept := string(result.Accepted["preview"])
	if strings.Contains(kept, `"edits":[]`) {
		t.Errorf("%s", kept)
	}
}
