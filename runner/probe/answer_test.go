package probe

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// The client's root is the directory that it has open, or else that of the arguments.
func TestRoots(t *testing.T) {
	for want, o := range map[string]inputs.Options{
		`"uri":"file:///tmp"`:      {Dir: "/tmp"},
		`"uri":"file:///tmp/shop"`: {Dir: "/tmp", Root: "/tmp/shop"},
	} {
		got, err := json.Marshal(answer("roots/list", nil, o, inputs.Mark{}))
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s, error %v, want %s", got, err, want)
		}
	}
}
