package probe

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestSaid(t *testing.T) {
	for raw, want := range map[string]string{
		`{"content":[{"type":"text","text":"a\u001b[31m<b>"},{"type":"text","text":"c"}]}`:                              "a\x1b[31m<b>\nc",
		`{"contents":[{"uri":"x://1","mimeType":"text/plain","text":"body"}]}`:                                          "body",
		`{"contents":[{"uri":"x://1","blob":"QUJD"}]}`:                                                                  `{"uri":"x://1","blob":"QUJD"}`,
		`{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"description":"greets"}`:                   "greets\nhi",
		`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"x://1","text":"t"}}}]}`:            "t",
		`{"content":[{"type":"resource","resource":{"uri":"x://1","text":"inner"}}]}`:                                   "inner",
		`{"content":[{"type":"image","data":"QQ==","mimeType":"image/png"}]}`:                                           `{"type":"image","data":"QQ==","mimeType":"image/png"}`,
		`{"content":[{"type":"text","text":"{\"a\": 1}"}],"structuredContent":{"a":1}}`:                                 `{"a": 1}`,
		`{"content":[{"type":"text","text":"one"}],"structuredContent":{"hidden":"two"}}`:                               "one\nstructuredContent: {\"hidden\":\"two\"}",
		`{"content":[{"type":"text","text":"one","_meta":{"note":"x"}}],"isError":true}`:                                "one\n_meta: {\"note\":\"x\"}",
		`{"level":"info","data":"logged"}`:                                                                              "logged",
		`{"progressToken":3,"progress":1,"total":2,"message":"half"}`:                                                   "half",
		`{"message":"Your name?","requestedSchema":{"type":"object"}}`:                                                  "Your name?\nrequestedSchema: {\"type\":\"object\"}",
		`{"systemPrompt":"Be kind.","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"maxTokens":9}`: "Be kind.\nx",
		`"text"`: "text", `[1, 2]`: "[1,2]", `null`: "", `{}`: "", ``: "", `{`: "", `{"content":7}`: "7",
	} {
		if got := said(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

func FuzzSaid(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"}],"structuredContent":{"a":[1]}}`))
	f.Add([]byte(`{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"x","text":"t"}}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		text := said(raw)
		if len(text) > 8*len(raw)+64 || json.Valid(raw) && utf8.Valid(raw) && !utf8.ValidString(text) {
			t.Errorf("%q: %q", raw, text)
		}
	})
}
