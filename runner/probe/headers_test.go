package probe

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestMirrors(t *testing.T) {
	for name, tc := range map[string]struct{ schema, want string }{
		"none":        {`{"properties":{"a":{"type":"string"}}}`, "[]"},
		"one":         {`{"properties":{"a":{"x-mcp-header":"Region"}}}`, "[{[a] Mcp-Param-Region}]"},
		"nested":      {`{"properties":{"a":{"properties":{"b":{"x-mcp-header":"B"}}}}}`, "[{[a b] Mcp-Param-B}]"},
		"not a token": {`{"properties":{"a":{"x-mcp-header":"x: y\r\nEvil"},"b":{"x-mcp-header":""},"c":{"x-mcp-header":7}}}`, "[]"},
		"in an array": {`{"properties":{"a":{"items":{"properties":{"b":{"x-mcp-header":"B"}}}}}}`, "[]"},
		"too deep":    {strings.Repeat(`{"properties":{"a":`, 20) + `{"x-mcp-header":"B"}` + strings.Repeat("}}", 20), "[]"},
		"no schema":   {`[]`, "[]"},
	} {
		if got := fmt.Sprint(mirrors(json.RawMessage(tc.schema), nil, nil)); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestPrimitive(t *testing.T) {
	for in, want := range map[string]string{
		`"a b"`: "a b", `true`: "true", `42`: "42", `-7`: "-7", `42.0`: "42",
		`1.5`: "none", `9007199254740993`: "none", `null`: "none", `{}`: "none", ``: "none",
	} {
		got, ok := primitive(json.RawMessage(in))
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s as a header is %q, want %q", in, got, want)
		}
	}
}

// FuzzMirrors: what a schema wants in headers can stand there, and is bounded.
func FuzzMirrors(f *testing.F) {
	f.Add([]byte(`{"properties":{"a":{"x-mcp-header":"Region","properties":{"b":{"x-mcp-header":"B"}}}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		found := mirrors(in, nil, nil)
		if len(found) > maxMirrors {
			t.Fatalf("%d mirrors", len(found))
		}
		for _, m := range found {
			if strings.ContainsAny(m.header, " :\r\n") || len(m.path) > maxMirrorDepth+1 {
				t.Fatalf("mirror %q", m)
			}
		}
	})
}
