package inputs

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRefuse: what a server shows of its secrets is not handed on to its other tools.
func TestRefuse(t *testing.T) {
	p := NewPool()
	p.Refuse = func(value string) bool { return strings.Contains(value, "AKIA") }
	p.Result("tool get_env", json.RawMessage(`{"content":[{"type":"text","text":"{\"id\": \"AKIAZIFL\", \"region_id\": \"eu-1\"}"}]}`))
	p.Error("tool get_env", `unknown id, available ids: "AKIAZIFL", "eu-2"`, Case{})
	if p.Size() == 0 {
		t.Error("nothing was taken")
	}
	for _, e := range p.entries {
		if strings.Contains(e.value, "AKIA") {
			t.Errorf("%q was taken from %s", e.value, e.source)
		}
	}
}
