package manifest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

const noteTool = `{"name":"format_note","title":"Format","description":"Formats a note.",
  "inputSchema":{"type":"object","properties":{"note":{"type":"string","maxLength":4096}},"required":["note"]},
  "annotations":{"readOnlyHint":true}}`

func tool(t *testing.T, raw string) string {
	t.Helper()
	items := Items(report.CapabilityTool, []json.RawMessage{json.RawMessage(raw)})
	if len(items) != 1 {
		t.Fatalf("%d items of one", len(items))
	}
	return items[0].Digest()
}

func TestItemDigestStays(t *testing.T) {
	for name, raw := range map[string]string{
		"order and white space": `{"annotations" : {"readOnlyHint":true}, "inputSchema":{"required":["note"],
			"properties":{"note":{"maxLength":4096.0,"type":"string"}},"type":"object"},
			"description":"Formats a \u006eote.","title":"Format","name":"format_note"}`,
		"_meta": `{"_meta":{"build":7},"name":"format_note","title":"Format","description":"Formats a note.",
			"inputSchema":{"type":"object","properties":{"note":{"type":"string","maxLength":4096}},"required":["note"]},
			"annotations":{"readOnlyHint":true}}`,
		"default hints": `{"name":"format_note","title":"Format","description":"Formats a note.",
			"inputSchema":{"type":"object","properties":{"note":{"type":"string","maxLength":4096}},"required":["note"]},
			"annotations":{"readOnlyHint":true,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}}`,
		"empty members": `{"name":"format_note","title":"Format","description":"Formats a note.","outputSchema":null,
			"inputSchema":{"type":"object","properties":{"note":{"type":"string","maxLength":4096}},"required":["note"]},
			"annotations":{"readOnlyHint":true,"title":""},"execution":{"taskSupport":"forbidden"},"icons":[{"src":"x"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, want := tool(t, raw), tool(t, noteTool); got != want {
				t.Errorf("digest %s, want %s", got, want)
			}
		})
	}
}

func TestItemDigestChanges(t *testing.T) {
	seen := map[string]string{tool(t, noteTool): "the tool itself"}
	for name, raw := range map[string]string{
		"description":        `{"name":"a","description":"x"}`,
		"no description":     `{"name":"a"}`,
		"name":               `{"name":"b","description":"x"}`,
		"title":              `{"name":"a","description":"x","title":"t"}`,
		"trailing space":     `{"name":"a","description":"x "}`,
		"hidden character":   `{"name":"a","description":"x\u200b"}`,
		"schema":             `{"name":"a","description":"x","inputSchema":{"type":"object"}}`,
		"nested _meta":       `{"name":"a","description":"x","inputSchema":{"type":"object","_meta":1}}`,
		"big integer":        `{"name":"a","description":"x","inputSchema":{"maximum":9007199254740992}}`,
		"big integer plus 1": `{"name":"a","description":"x","inputSchema":{"maximum":9007199254740993}}`,
		"output schema":      `{"name":"a","description":"x","outputSchema":{"type":"object"}}`,
		"restrictive hint":   `{"name":"a","description":"x","annotations":{"openWorldHint":false}}`,
		"hint of wrong type": `{"name":"a","description":"x","annotations":{"openWorldHint":"true"}}`,
		"annotations' title": `{"name":"a","description":"x","annotations":{"title":"t"}}`,
		"key twice":          `{"name":"a","description":"evil","description":"x"}`,
		"key twice, changed": `{"name":"a","description":"more evil","description":"x"}`,
		"lone surrogate":     `{"name":"a","description":"x\ud800"}`,
		"other surrogate":    `{"name":"a","description":"x\ud801"}`,
		"replacement":        `{"name":"a","description":"x\ufffd"}`,
		"invalid UTF-8":      "{\"name\":\"a\",\"description\":\"x\xff\"}",
		"not an object":      `"a"`,
		"an array":           `["a"]`,
	} {
		digest := tool(t, raw)
		if other, ok := seen[digest]; ok {
			t.Errorf("%q and %q have the same digest", name, other)
		}
		seen[digest] = name
	}
}

func TestReport(t *testing.T) {
	base := Manifest{
		ServerName: raw(`"notes"`), Instructions: raw(`"Be kind."`), Capabilities: raw(`{"tools":{}}`),
		Tools:     []json.RawMessage{raw(`{"name":"b"}`), raw(noteTool), raw(`{"name":"a"}`)},
		Resources: []json.RawMessage{raw(`{"uri":"note://1","name":"one","size":7}`)},
	}
	r := base.Report()
	if got := []string{r.Tools[0].Name, r.Tools[1].Name, r.Tools[2].Name}; got[0] != "a" || got[1] != "b" || got[2] != "format_note" {
		t.Errorf("tools are not sorted: %v", got)
	}
	if r.Tools[2].Description != "Formats a note." || r.Tools[2].Title != "Format" || r.Instructions != "Be kind." {
		t.Errorf("texts are lost: %+v", r)
	}
	if r.Resources[0].Name != "note://1" {
		t.Errorf("resource is called %q, want its uri", r.Resources[0].Name)
	}

	swapped := base
	swapped.Tools = []json.RawMessage{base.Tools[2], base.Tools[0], base.Tools[1]}
	if swapped.Report().Digest != r.Digest {
		t.Error("the order of the tools changed the digest")
	}
	for name, change := range map[string]func(*Manifest){
		"name":         func(m *Manifest) { m.ServerName = raw(`"votes"`) },
		"instructions": func(m *Manifest) { m.Instructions = raw(`"Be kind!"`) },
		"capabilities": func(m *Manifest) { m.Capabilities = raw(`{"tools":{"listChanged":true}}`) },
		"tool added":   func(m *Manifest) { m.Tools = append(m.Tools[:3:3], raw(`{"name":"c"}`)) },
		"tool gone":    func(m *Manifest) { m.Tools = m.Tools[1:] },
		"tool doubled": func(m *Manifest) { m.Tools = append(m.Tools[:3:3], m.Tools[0]) },
		"moved":        func(m *Manifest) { m.Prompts, m.Tools = m.Tools[:1], m.Tools[1:] },
	} {
		t.Run(name, func(t *testing.T) {
			m := base
			change(&m)
			if m.Report().Digest == r.Digest {
				t.Error("the digest did not change")
			}
			if report.Diff(r, m.Report()).Empty() {
				t.Error("the difference is empty")
			}
		})
	}
}

func TestRepeatedNamesHideNothing(t *testing.T) {
	r := Manifest{Tools: []json.RawMessage{
		raw(`{"name":"note","description":"b"}`), raw(`{"name":"note","description":"a"}`),
		raw(`{"name":"note (2)"}`), raw(`{"name":"note","description":"c"}`), raw(`7`),
	}}.Report()
	names := map[string]bool{}
	for _, item := range r.Tools {
		names[item.Name] = true
	}
	if len(names) != 5 {
		t.Errorf("%d names for 5 items: %v", len(names), names)
	}
}

func TestEmptyManifest(t *testing.T) {
	r := Manifest{}.Report()
	if r.Tools == nil || r.Prompts == nil || r.Resources == nil || r.ResourceTemplates == nil {
		t.Errorf("nil lists: %+v", r)
	}
	if len(r.Digest) != len("sha256:")+64 {
		t.Errorf("digest %q", r.Digest)
	}
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

// TestOr: a repeated list is not held twice, and a changed one is not taken for the same.
func TestOr(t *testing.T) {
	tool := func(text string) Manifest { return Manifest{Tools: []json.RawMessage{json.RawMessage(text)}} }
	known, again, other := tool(`{"name":"a"}`), tool(`{"name":"a"}`), tool(`{"name":"b"}`)
	if got := again.Or(known); &got.Tools[0][0] != &known.Tools[0][0] {
		t.Error("the same is held twice")
	}
	if got := other.Or(known); string(got.Tools[0]) != `{"name":"b"}` {
		t.Errorf("another manifest became %s", got.Tools[0])
	}
}

// TestAA2ItemsAreReadWithoutDigests: every rule reads the items, and a server may have 10,000 of them.
func TestAA2ItemsAreReadWithoutDigests(t *testing.T) {
	var schema strings.Builder
	for i := range 100 {
		fmt.Fprintf(&schema, `,"p%d":{"type":"string","description":"It has %d."}`, i, i)
	}
	var raw []json.RawMessage
	for i := range 10 {
		raw = append(raw, json.RawMessage(fmt.Sprintf(`{"name":"t%d","inputSchema":{"properties":{"a":{}%s}}}`, i, schema.String())))
	}
	read := testing.AllocsPerRun(1, func() { Items(report.CapabilityTool, raw) })
	items := Items(report.CapabilityTool, raw)
	digested := testing.AllocsPerRun(1, func() {
		for _, item := range items {
			item.Digest()
		}
	})
	if read > digested/2 {
		t.Errorf("%.0f allocations to read the items, %.0f for their digests", read, digested)
	}
}
