package attack

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

func TestUnlisted(t *testing.T) {
	got := Unlisted([]string{"purge_notes", "debug"})
	if got[0] != "purge_notes" || got[1] != "debug" || slices.Index(got[2:], "debug") >= 0 || !slices.Contains(got, "run_command") {
		t.Errorf("names are %v", got)
	}
	if many := Unlisted(strings.Split(strings.Repeat("x,", 500), ",")); len(many) > maxUnlisted {
		t.Errorf("%d names", len(many))
	}
	if got := strings.Join(NamedIn("No tool x. There are: get_time, set-alarm, get_time and more."), " "); got != "get_time set-alarm" {
		t.Errorf("named are %q", got)
	}
}

func TestRefusal(t *testing.T) {
	nobody := RefusalOf("marlow_c1", "Unknown tool: marlow_c1")
	if RefusalOf("debug", "Unknown tool: debug") != nobody || RefusalOf("debug", "debug: command is missing") == nobody {
		t.Errorf("the refusal is %q", nobody)
	}
}

func TestUsual(t *testing.T) {
	var arguments map[string]string
	if err := json.Unmarshal(Usual(inputs.Mark{Call: 7}), &arguments); err != nil || arguments["command"] != "echo marlow-c7" || arguments["name"] != "marlow-c7" {
		t.Errorf("arguments %v: %v", arguments, err)
	}
}
