package probe

import (
	"fmt"
	"testing"
)

// kindsOf are the breaches of a session, with how often each was.
func kindsOf(r Result) string {
	text := ""
	for _, b := range r.Breaches {
		text += fmt.Sprintf("%s %d %s; ", b.Kind, b.Count, b.Sample)
	}
	return text
}

func TestListBreaches(t *testing.T) {
	page := func(cursor string) any {
		return map[string]any{"tools": tools(noteTool).(map[string]any)["tools"], "nextCursor": cursor}
	}
	n := 0
	for name, tc := range map[string]struct {
		list func(*fake, map[string]any) any
		want string
	}{
		"honest": {defaults["tools/list"], ""},
		"a cursor again": {
			func(*fake, map[string]any) any { return page("a") },
			`CursorTwice 1 tools/list: nextCursor "a"; `,
		},
		"ever new cursors": {
			func(*fake, map[string]any) any { n++; return page(fmt.Sprint(n)) },
			fmt.Sprintf("LongList 1 tools/list: %d pages; ", maxPages),
		},
		"two of a name": {
			func(*fake, map[string]any) any {
				return tools(noteTool, `{"name":"format_note","inputSchema":{"type":"object"}}`, `{"name":""}`, noteTool)
			},
			"Nameless 1 tools/list; SameTool 1 format_note; SameName 1 format_note; ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := fake{on: map[string]func(*fake, map[string]any) any{"tools/list": tc.list}}
			if got := kindsOf(f.probe(t, quick)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
