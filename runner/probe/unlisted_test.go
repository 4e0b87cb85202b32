package probe

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
)

// TestUnlisted: what takes a call without being listed is told from a server that refuses what it does not
// have, that takes any name, or where little may be called.
func TestUnlisted(t *testing.T) {
	failed := func(text string) any {
		return map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": text}}}
	}
	for name, tc := range map[string]struct {
		calls report.Calls
		other func(name string, arguments map[string]any) any
		want  string
	}{
		"a tool that nobody lists": {"", func(name string, _ map[string]any) any {
			if name == "purge_notes" {
				return content("purged")
			}
			return failed("Unknown tool: " + name)
		}, "purge_notes"},
		"named by a refusal": {"", func(name string, _ map[string]any) any {
			if name == "wipe_notes" {
				return content("wiped")
			}
			return failed("Unknown tool: " + name + ". There are format_note and wipe_notes.")
		}, "wipe_notes"},
		"one that wants arguments": {"", func(name string, arguments map[string]any) any {
			switch {
			case name == "purge_notes" && arguments["command"] == nil:
				return failed("command is missing")
			case name == "purge_notes":
				return content("purged")
			}
			return failed("Unknown tool: " + name)
		}, "purge_notes"},
		"none":                    {"", func(name string, _ map[string]any) any { return failed("Unknown tool: " + name) }, ""},
		"any":                     {"", func(string, map[string]any) any { return content("done") }, ""},
		"one that refuses all":    {"", func(name string, _ map[string]any) any { return failed(strings.Repeat(name[:1], 3)) }, ""},
		"where only reads are on": {report.CallsReadOnlyHinted, func(string, map[string]any) any { return content("done") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{on: map[string]func(*fake, map[string]any) any{
				"tools/list": func(*fake, map[string]any) any { return tools(noteTool) },
				"tools/call": func(_ *fake, params map[string]any) any {
					arguments, _ := params["arguments"].(map[string]any)
					if params["name"] == "format_note" {
						return content("done")
					}
					return tc.other(params["name"].(string), arguments)
				},
			}}
			got := f.probe(t, Options{Attack: &attack.Plan{Unlisted: []string{"format_note", "purge_notes"}}, Calls: tc.calls, Rounds: 1, MaxCalls: 1})
			var found []string
			for _, each := range got.Unlisted {
				found = append(found, each.Name)
			}
			if strings.Join(found, " ") != tc.want {
				t.Errorf("took %v, want %q", found, tc.want)
			}
		})
	}
}
