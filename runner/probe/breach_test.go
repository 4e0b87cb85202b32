package probe

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/breach"
	"github.com/mcpaudit/mcpaudit/runner/transport"
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

// Each call is answered with what the case says, and then with a result.
func TestMessageBreaches(t *testing.T) {
	for name, tc := range map[string]struct {
		say  func(*fake)
		want string
	}{
		"what is odd and allowed": {func(f *fake) {
			f.println("")
			f.println(" \r")
			f.println(`{"jsonrpc":"2.0","method":"notifications/unheard_of"}`)
			f.println(`{"jsonrpc":"2.0","method":"ping","id":"a string"}`)
			f.println(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":null,"more":[{}]}`)
		}, ""},
		"cut short":           {func(f *fake) { f.println(`{"jsonrpc":"2.0","id":`) }, `Malformed 1 {"jsonrpc":"2.0","id":; `},
		"no id at all":        {func(f *fake) { f.println(`{"jsonrpc":"2.0","id":null,"result":1}`) }, `Malformed 1 {"jsonrpc":"2.0","id":null,"result":1}; `},
		"another's id":        {func(f *fake) { f.println(`{"jsonrpc":"2.0","id":-7,"result":1}`) }, `Unasked 1 {"jsonrpc":"2.0","id":-7,"result":1}; `},
		"longer than we take": {func(f *fake) { f.println(strings.Repeat("x", transport.MaxMessage+1)) }, ""},
		"too long by far":     {func(f *fake) { f.println(strings.Repeat("x", minOversized)) }, "Oversized 1 " + strings.Repeat("x", maxSample) + "; "},
		"requests to no end": {func(f *fake) {
			for range maxAsked + 1 {
				f.println(`{"jsonrpc":"2.0","method":"ping","id":1}`)
			}
		}, `Flood 1 {"jsonrpc":"2.0","method":"ping","id":1}; `},
		"notifications to no end": {func(f *fake) {
			for range maxNotices + 1 {
				f.println(`{"jsonrpc":"2.0","method":"notifications/progress"}`)
			}
		}, `Flood 1 {"jsonrpc":"2.0","method":"notifications/progress"}; `},
	} {
		t.Run(name, func(t *testing.T) {
			f := fake{on: map[string]func(*fake, map[string]any) any{
				"tools/call": func(f *fake, _ map[string]any) any { tc.say(f); return content("done") },
			}}
			if got := kindsOf(f.probe(t, quick)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSecondAnswer(t *testing.T) {
	f := fake{answered: func(f *fake, m map[string]any) {
		if m["method"] == "tools/list" {
			f.println(fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"result":{}}`, m["id"]))
		}
	}}
	if b := f.probe(t, quick).Breaches; len(b) != 1 || b[0].Kind != breach.Twice || b[0].Phase != report.PhaseList {
		t.Errorf("a second answer: %+v", b)
	}
}
