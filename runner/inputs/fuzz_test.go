package inputs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// exhaust asks for cases as long as there are any, and checks each. Some are refused, in
// the words given.
func exhaust(t *testing.T, f *Form, pool *Pool, refusal ...string) (texts []string) {
	t.Helper()
	for call := 1; call <= 2*maxBranches; call++ {
		c, ok := f.Next(pool, Mark{Call: call})
		if !ok {
			if total, done := f.Branches(); done > total {
				t.Fatalf("%d of %d branches", done, total)
			}
			return texts
		}
		var object map[string]any
		if err := json.Unmarshal(c.Arguments, &object); err != nil || object == nil || len(c.Arguments) > 16*budget {
			t.Fatalf("%s: %d bytes, %.80s: %v", c.Shape, len(c.Arguments), c.Arguments, err)
		}
		texts = append(texts, string(c.Arguments))
		f.Answered(c, call%3 > 0)
		if call%3 == 0 {
			f.Refused(c, strings.Join(refusal, "\n"))
		}
	}
	t.Fatalf("no end: %.200s", texts[len(texts)-1])
	return nil
}

func FuzzForm(f *testing.F) {
	for _, seed := range []string{
		`{"properties":{"note":{"type":"string","pattern":"^a+$","minLength":3}},"required":["note"]}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#"}]}}}`, `{"required":["url","a/b"],"properties":{"a/b":{"enum":[]}}}`,
		`{"properties":{"n":{"type":"number","minimum":-1e308,"exclusiveMaximum":3,"multipleOf":0}},"required":["n"]}`,
		`{"properties":{"a":{"type":["string","null"]},"b":{"type":"array","items":{"enum":[1,2]}}},"dependentRequired":{"a":["b"]}}`,
		`{"if":{"properties":{"k":{"const":1}}},"then":{"required":["x"]},"else":{"properties":{"y":false}},"properties":{"k":{"enum":[1,2]}}}`,
		`{"additionalProperties":{"oneOf":[{"type":"boolean"},{"$ref":"#"}]},"minProperties":2,"maxProperties":1}`,
		`[{"name":"city","required":true},{"name":"tone"}]`, `note://{id}{?q*,r:3}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		o := Options{About: "get_note"}
		texts := exhaust(t, NewForm(schema, o), nil)
		if again := exhaust(t, NewForm(schema, o), NewPool()); !slices.Equal(texts, again) {
			t.Fatalf("%q\nthen\n%q", texts, again)
		}
		exhaust(t, NewPromptForm(schema, o), nil)
		if form, err := NewTemplateForm(string(schema), o); err == nil {
			exhaust(t, form, nil)
		}
		if !json.Valid(Arguments(schema, Options{All: true}, Mark{})) {
			t.Fatal("no JSON")
		}
	})
}

func FuzzPool(f *testing.F) {
	for _, seed := range []string{
		`{"content":[{"type":"text","text":"{\"tickets\":[{\"id\":\"TICK-1\",\"url\":\"https://evil.test/a\"}]}"}]}`,
		"Unknown service 'x'. Available: billing, auth", "- one\n- two\nID: 7\nfile:///etc/passwd", `{"a":{"b":{}},"path":"/etc/shadow"}`,
		"[[[[[[[[[[[[[[[[[[", "/home/audit/marlow-files/note.txt does not exist", "ticket_id: already exists (.xlsx)",
		`MCP error: [{"code":"invalid_type","expected":"string","path":["edits",0,"a"]},{"code":"invalid_type","expected":"array","path":["b"]}]`,
		"Sheet 'a' not found in number 7. Available: 'TICK-1', 'TICK-2'; must be at least 10",
		"path is outside /home/audit/../etc, /home/audit/marlow-repository and /etc", "data: ssh://root@evil.test:22/x ../../etc evil.test 8.8.8.8 ::1",
		"file://\u0130\u0130\u0130/x", "file://\xcc\xe4\xff\xe20",
	} {
		f.Add(seed)
	}
	schema := json.RawMessage(`{"properties":{"ticket_id":{"type":"string"},"service":{"type":"string"},"path":{"type":"string"},
		"url":{"type":"string"},"number":{"type":"integer"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		pool := NewPool()
		pool.Result("tool get_ticket", json.RawMessage(text))
		quoted, _ := json.Marshal(text)
		pool.Result("tool list_tickets", quoted)
		pool.Error("tool get_ticket", text, Case{})
		pool.Description("tool get_ticket", text)
		pool.Taken("tool create_ticket", json.RawMessage(text))
		pool.Offer("the completion of prompt p", "service", []string{text})
		if pool.Size() > maxEntries {
			t.Fatalf("%d values", pool.Size())
		}
		exhaust(t, NewForm(nil, Options{About: "get_ticket"}), pool, text)
		for _, arguments := range exhaust(t, NewForm(schema, Options{About: "get_ticket", Dir: "/home/audit"}), pool, text) {
			var object map[string]any
			if json.Unmarshal([]byte(arguments), &object) != nil {
				continue
			}
			if path, ok := object["path"].(string); ok && strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "/home/audit") {
				t.Fatalf("a path elsewhere: %s", arguments)
			}
			url, _ := object["url"].(string)
			if scheme, _, isURL := strings.Cut(strings.ToLower(url), "://"); isURL && network(scheme) && !strings.Contains(url, "."+Host) {
				t.Fatalf("a URL elsewhere: %s", arguments)
			}
		}
	})
}

// Texts made to be harvested without end must cost no more than others.
func TestHostileTexts(t *testing.T) {
	var ids strings.Builder
	for i := range 200_000 {
		ids.WriteString("TICK-")
		ids.WriteString(strings.Repeat("9", i%7+1))
		ids.WriteString(" 'x' - y\n")
	}
	for name, text := range map[string]string{
		"ids":    ids.String(),
		"blanks": strings.Repeat(" ", 4<<20),
		"quotes": strings.Repeat(`'a' `, 1<<20),
		"lists":  "Available: " + strings.Repeat("a,", 1<<20),
		"deep":   strings.Repeat(`[`, 1<<20),
		"wide":   "{" + strings.Repeat(`"a":{},`, 1<<18) + `"b":{}}`,
		"urls":   strings.Repeat("http://a.test/ ", 1<<18),
	} {
		t.Run(name, func(t *testing.T) {
			pool := NewPool()
			for range 3 {
				pool.Result("tool list_tickets", json.RawMessage(text))
				pool.Error("tool get_ticket", text, Case{})
				pool.Description("tool get_ticket", text)
			}
			if pool.Size() > 32*maxAlike {
				t.Errorf("%d values", pool.Size())
			}
			exhaust(t, NewForm(json.RawMessage(ticketTools["get_ticket"]), Options{About: "get_ticket"}), pool)
		})
	}
}
