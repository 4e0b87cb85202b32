package probe

import (
	"regexp"
	"testing"
)

// TestMeta: each call has the members of the client, next to the token for its progress.
func TestMeta(t *testing.T) {
	id, chats, calls := regexp.MustCompile(`^toolu_01[0-9A-Za-z]{4}$`), map[any]bool{}, map[any]bool{}
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/call": func(_ *fake, params map[string]any) any {
			meta, _ := params["_meta"].(map[string]any)
			if use, _ := meta["example/toolUseId"].(string); !id.MatchString(use) || meta["progressToken"] == nil {
				t.Errorf("_meta %v", meta)
			}
			chats[meta["example.chat"]], calls[meta["example/toolUseId"]] = true, true
			return content("done")
		},
	}}
	o := quick
	o.Rounds, o.MaxCalls = 2, 4
	o.Meta = []Meta{{Key: "example/toolUseId", Form: "toolu_01wwww"}, {Key: "example.chat", Form: "xxxx", Stays: true}}
	f.probe(t, o)
	if len(chats) != 1 || len(calls) < 2 {
		t.Errorf("%d chats, %d calls", len(chats), len(calls))
	}
}
