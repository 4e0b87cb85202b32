package sources

import (
	"strings"
	"testing"
)

func TestTools(t *testing.T) {
	for text, want := range map[string]string{
		`server.registerTool("get_time", {}); server.tool('dump', {})`:                         "get_time dump",
		`switch (request.params.name) { case "get-time": return 1; case 'dump': return 2 }`:    "get-time dump",
		"if name == \"get_time\":\n    return 1\nelif tool_name == 'dump':\n    return 2":      "get_time dump",
		"@mcp.tool()\nasync def get_time(zone: str):\n    pass\n@mcp.tool\ndef dump():\n pass": "get_time dump",
		`const handlers = { "get_time": getTime, 'dump': async (a) => 1, "age": 7 }`:           "get_time dump",
		`TOOLS["get_time"] = (1, get_time); more = {"dump": (dump, {})}`:                       "get_time dump",
		`tools = [{"name": "get_time", "description": "x"}, Tool(name="dump")]`:                "dump get_time",
		"const all = {\n get_time: { run: a => 1 },\n dump_all: async (a) => 1, max_age: 7 }":  "get_time dump_all",
		`if (mode === "fast") { open("notes.txt") }`:                                           "",
	} {
		if got := strings.Join(Tools(text), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func FuzzTools(f *testing.F) {
	f.Add(`server.tool("a_b"); case "c": "d": lambda; name = "e"`)
	f.Add("@x.tool(\n")
	f.Fuzz(func(t *testing.T, text string) {
		names := Tools(text)
		if len(names) > maxTools {
			t.Errorf("%d names", len(names))
		}
		for _, name := range names {
			if len(name) > maxName || strings.ContainsAny(name, "\x00\n \"'") {
				t.Errorf("%q", name)
			}
		}
	})
}
