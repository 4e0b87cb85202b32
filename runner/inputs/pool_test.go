package inputs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tell fills a pool: "KIND SOURCE: TEXT".
func tell(t *testing.T, said ...string) *Pool {
	t.Helper()
	pool := NewPool()
	for _, each := range said {
		how, text, _ := strings.Cut(each, ": ")
		how, source, _ := strings.Cut(how, " ")
		switch how {
		case "result":
			pool.Result(source, json.RawMessage(text))
		case "text":
			raw, _ := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
			pool.Result(source, raw)
		case "error":
			pool.Error(source, text, Case{})
		case "taken":
			pool.Taken(source, json.RawMessage(text))
		case "description":
			pool.Description(source, text)
		case "offer":
			argument, values, _ := strings.Cut(text, "=")
			pool.Offer(source, argument, strings.Split(values, ","))
		default:
			t.Fatal(each)
		}
	}
	return pool
}

// TestCodeIsWhole: what stands in backticks is one value, whatever quotes it holds.
func TestCodeIsWhole(t *testing.T) {
	for text, want := range map[string]string{
		"The page, such as `Hi {{ include \"a.md\" }}`.": `Hi {{ include "a.md" }}`,
		"The state, `open` or `closed`.":                 "open",
		`The state, "open" or "closed".`:                 "open",
	} {
		if got := Offered(text); len(got) == 0 || got[0] != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestParametersAreNoValues: a description that quotes one names none, unlike what else it quotes.
func TestParametersAreNoValues(t *testing.T) {
	pool := NewPool()
	pool.Description("tool get_device_logs", "Stops after `limit` entries of the device 'pixel'; pass `saveTo` for a file.", "limit", "saveTo")
	var values []string
	for _, e := range pool.entries {
		values = append(values, e.value)
	}
	if got := strings.Join(values, " "); got != "pixel" {
		t.Errorf("the values are %q", got)
	}
}

// What a place is offered, in this order.
func TestOffers(t *testing.T) {
	for name, tc := range map[string]struct {
		tool, property string // "name" or "name: schema"
		said           []string
		want           string
	}{
		"an id by name":             {"get_ticket", "ticket_id", []string{`text tool list_tickets: [{"id":"T1"},{"id":"T2"}]`}, "T1 T2"},
		"an id with letters":        {"add_attachment", "board_id", []string{`text tool create_board: Created board brd-3f2a1b`}, "brd-3f2a1b 1"},
		"no id":                     {"add_attachment", "board_id", []string{`text tool create_board: A well-known, state-of-the-art x-ray is read_only.`}, ""},
		"by the same name":          {"get_ticket", "ticketId", []string{`result tool find: {"structuredContent":{"ticket_id":"T1","color":"red"}}`}, "T1"},
		"by a name in a list":       {"open_nodes", `names: {"type":"array","items":{"type":"string"}}`, []string{`text tool read_graph: {"entities":[{"name":"Ada"},{"name":"Bob Ray"}]}`}, "Ada Bob Ray"},
		"by what it is of":          {"add_observations", "entityName", []string{`text tool read_graph: {"entities":[{"name":"Ada"}],"colors":["red"]}`}, "Ada"},
		"by its description":        {"create_relation", `from: {"description":"The name of the entity where it starts"}`, []string{`text tool read_graph: {"entities":[{"name":"Ada"}]}`}, "Ada"},
		"JSON as an example":        {"add_versions", `versions: {"type":"string","description":"JSON array of versions, each with 'name' [required]. Example: [\n {\"name\": \"v1\"}]"}`, nil, `[{\"name\":\"v1\"}]`},
		"JSON, and no more":         {"add_versions", `versions: {"type":"string","description":"Versions as JSON, such as {\"v1\":{\"size\":\"big\"}}"}`, nil, `{\"v1\":{\"size\":\"big\"}}`},
		"JSON without an example":   {"update", `settings: {"type":"string","description":"Settings as JSON"}`, nil, `{\"name\":\"note\"}`},
		"a list without an example": {"update", `rows_json: {"type":"string","description":"JSON array of rows"}`, nil, `[{\"name\":\"note\"}]`},
		"JSON by its name":          {"update", `rows_json: {"type":"string"}`, nil, `{\"name\":\"note\"}`},
		"a key in JSON":             {"update", `column: {"type":"string","description":"Key of the JSON document"}`, nil, ""},
		"one of some words":         {"list", `sort_by: {"type":"string","description":"Column to sort by: name, city or id"}`, nil, "name city id"},
		"a sentence with or":        {"list", `word: {"type":"string","description":"What to do: nothing much, or all of it"}`, nil, ""},
		"brackets":                  {"calculate", `sum: {"type":"string","description":"Sum, such as 2*(3+(4-1))*5"}`, nil, "2*(3+(4-1))*5"},
		"a word in brackets":        {"calculate", `sum: {"type":"string","description":"Sum (such as 2+3)"}`, nil, "2+3"},
		"JSON of another thing":     {"add_versions", `versions: {"type":"string","description":"Names, such as 'v1'; what comes back is [{\"name\": \"v2\"}]"}`, nil, "v1 name v2"},
		"a number":                  {"get_user", `user_id: {"type":"integer"}`, []string{`text tool list_users: {"users":[{"id":7,"age":41},{"id":"x9"}]}`}, "7 1"},
		"keys of a map":             {"check", "service", []string{`text tool get_all: {"services":{"billing":{"up":true},"auth":{"up":false}}}`}, "auth billing"},
		"what a name grew into":     {"read_rule", "path", []string{"error tool fetch_rule: [Errno 2] No such file: '/home/audit/" + FilesDir + "/note.txt.md'", "error tool fetch_rule: There is only '/home/audit/style.md'"}, "/home/audit/style.md"},
		"running text":              {"get_ticket", "ticket_id", []string{"text tool list_tickets: See TICK-3, and\nalso TICK-7."}, "TICK-3 TICK-7"},
		"pairs":                     {"get_user", "user_name", []string{"text tool whoami: **User name**: ada\nAge: 41"}, "ada"},
		"bullets":                   {"check", "service", []string{"text tool list_services: Running:\n- billing\n- auth"}, "billing auth"},
		"a UUID":                    {"get_doc", "doc_id", []string{"text tool list_docs: 3f2b8c1e-5d47-4a69-9b0c-7e1d2a3f4b5c is new"}, "3f2b8c1e-5d47-4a69-9b0c-7e1d2a3f4b5c"},
		"URIs":                      {"read", "uri", []string{"text tool list: demo://a/1, demo://a/{id}, https://evil.test/x and file:///etc/passwd."}, "demo://a/1 file:///etc/passwd"},
		"paths":                     {"read_file", "path", []string{"text tool list: /etc/passwd /home/audit/a.txt /home/audit/../x /home/audit/b"}, "/home/audit/a.txt /home/audit/b"},
		"directories":               {"list_directory", "path", []string{"text tool list: /home/audit/a.txt /home/audit/b"}, "/home/audit/b"},
		"a path for nothing":        {"get_ticket", "ticket_id", []string{`text tool list_tickets: {"id":"/home/audit/a"}`}, ""},
		"an error's offer":          {"check", "service", []string{"error tool check: Unknown service 'x'. Available: billing, auth"}, "billing auth x"},
		"an enum in an error":       {"check", "mode", []string{"error tool check: Invalid enum value. Expected 'fast' | 'slow', received 'x'"}, "fast slow x"},
		"a list in an error":        {"check", "region", []string{`error tool check: region must be one of ["eu-1", "us-2"]`}, "eu-1 us-2"},
		"two in an error":           {"check", "kind", []string{"error tool check: Must be Text or Blob."}, "Text Blob"},
		"a number in an error":      {"check", "resource", []string{"error tool check: resource must be a positive integer"}, "1"},
		"an error elsewhere":        {"check", "kind", []string{"error tool other: Must be Text or Blob."}, ""},
		"what was created":          {"read_note", "title", []string{`taken tool create_note: {"title":"marlow-c3","text":"A note (marlow-c3)."}`}, "marlow-c3"},
		"what was only asked":       {"read_note", "title", []string{`taken tool get_note: {"title":"marlow-c3"}`}, ""},
		"an echo":                   {"read_note", "title", []string{`text tool get_note: {"title":"marlow-c3"}`}, ""},
		"completion":                {"greet", "style", []string{"offer the completion of prompt greet: style=formal,casual", "offer the completion of prompt greet: name=Ada"}, "formal casual"},
		"no name for the new":       {"create_note", "title", []string{`text tool list_notes: {"title":"Door"}`}, ""},
		"no words for prose":        {"write_note", "content", []string{`text tool list_notes: {"content":"Door"}`}, ""},
		"a name with a default":     {"gzip_file", `name: {"type":"string","default":"x.gz"}`, []string{`text tool list_links: [{"name":"Blob Resource 5"}]`}, "x.gz"},
		"a default with a kin":      {"get_forecast", `city_name: {"type":"string","default":"Rome"}`, []string{`text tool list_cities: [{"city_name":"Oslo"}]`}, "Rome Oslo"},
		"a URL is ours first":       {"open", "url", []string{`text tool list: {"url":"demo://a/1"}`}, "demo://a/1"},
		"a command by chance":       {"run_command", "command", []string{`text tool get_config: {"command":"mkfs", "shell":"bash"}`}, ""},
		"allowed commands":          {"run_command", "command", []string{"error tool run_command: Allowed commands: ls, env, sudo, pwd"}, "ls pwd"},
		"a process to end":          {"kill_process", `pid: {"type":"integer"}`, []string{`text tool list_processes: [{"pid":8}]`, "error tool kill_process: pid must be an integer"}, ""},
		"names, one on a line":      {"read_project", "project_name", []string{"text tool list_projects: alpha\nbeta, gamma\nThat is all."}, "alpha beta gamma"},
		"an error in JSON":          {"check", "service", []string{`error tool check: {"name":"InvalidParamError","error":"no such service","services":["auth","billing"]}`}, "auth billing"},
		"an error of zod":           {"check", "mode", []string{`error tool check: MCP error -32602: [{"code":"invalid_enum_value","options":["fast","slow"],"path":["mode"]}]`}, "fast slow"},
		"a command shown":           {"run_command", "command", []string{`text tool get_config: {"command":"tree"}`}, ""},
		"what went wrong":           {"run_command", "command", []string{"error tool run_command: Error executing command: Connection lost"}, ""},
		"a path to take away":       {"delete_file", "path", []string{"text tool list: /home/audit/marlow-files/todo.md /home/audit/marlow-files /home/audit/b.txt"}, "/home/audit/b.txt"},
		"a directory to delete":     {"delete_directory", "path", []string{"text tool list: /home/audit /home/audit/sub"}, "/home/audit/sub"},
		"a name that was missing":   {"get_quote", "symbol", []string{"error tool get_splits: get_splits() missing 1 required positional argument: 'symbol'"}, ""},
		"what was refused":          {"read_file", "path", []string{"error tool read_dir: no such directory: '/home/audit/marlow-c3'"}, ""},
		"commands described":        {"run_command", "command", []string{"description tool run_command: Runs one.\nAllowed commands: env, ls, pwd"}, "ls pwd"},
		"a process to read":         {"read_process", `pid: {"type":"integer"}`, []string{`text tool list_processes: [{"pid":8}]`}, "8"},
		"code that tells":           {"run_code", `code: {"description":"such as 'process.env.HOME' or '1 + 2'"}`, nil, "1 + 2"},
		"what has nothing to do":    {"get_ticket", "ticket_id", []string{`text tool weather: {"city":"Paris","wind":"west"}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			property, schema, ok := strings.Cut(tc.property, ": ")
			if !ok {
				schema = `{"type":"string"}`
			}
			root := fmt.Sprintf(`{"properties":{%q:%s},"required":[%[1]q]}`, property, schema)
			f := NewForm(json.RawMessage(root), Options{About: tc.tool, Dir: "/home/audit"})
			n := f.tree.fields[0].node
			if n.items != nil {
				n = n.items
			}
			var got []string
			for _, c := range f.leaf(n, tell(t, tc.said...)).candidates {
				if c.source != "" && (!c.guess || property == "url") {
					got = append(got, strings.Trim(canonical(c.value), `"`))
				}
			}
			if strings.HasSuffix(tc.want, " 1") { // a guess that is a number has no source
				got = append(got, "1")
			}
			if joined := strings.Join(got, " "); joined != tc.want {
				t.Errorf("offers %q, want %q", joined, tc.want)
			}
		})
	}
}

func TestNamed(t *testing.T) {
	for text, want := range map[string][]string{
		"Available: billing, auth":                                       {"billing", "auth"},
		"No such room. Try one of: red, green or blue.":                  {"red", "green", "blue"},
		"Valid values are [a1, b2]":                                      {"a1", "b2"},
		"it's the user's fault":                                          nil,
		`The version MUST be either 4 or 5 but received "to"`:            {"4", "5", "to"},
		"kind must be exactly one of red, green":                         {"red", "green"},
		"must be either a string or a number":                            nil,
		"known tables:\n- users\n- orders":                               {"users", "orders"},
		"'int' object has no attribute 'encode'":                         nil,
		"expected string or bytes-like object, got 'int'":                nil,
		`The "path" argument must be of type string. Received undefined`: nil,
		"Cannot read properties of undefined (reading 'split')":          nil,
		"Did you mean 'billing'?":                                        {"billing"},
		"f() missing 1 required positional argument: 'symbol'":           nil,
		"f() missing 2 required positional arguments: 'from' and 'to'":   nil,
		"Missing required parameter: \"city\". Try 'Oslo'.":              {"Oslo"},
		"'city' is required":                                             nil,
		"Missing table 'users'":                                          {"users"},
		"Supported formats: json, yaml (see https://docs.test for more)": {"json", "yaml"},
	} {
		if got := named(text); !slices.Equal(got, want) {
			t.Errorf("named(%q) = %q, want %q", text, got, want)
		}
	}
}

// A tool that asks for the name of a new file gets one.
func TestNamesOfFiles(t *testing.T) {
	for _, tc := range []struct{ tool, property, schema, want string }{
		{"save_workbook", "path", `{}`, "/home/audit/marlow-c2-note.xlsx"},
		{"save_image", "path", `{"description":"Where to save it, such as chart.png"}`, "/home/audit/marlow-c2-note.png"},
		{"save_note", "path", `{}`, "/home/audit/marlow-c2-note.txt"},
	} {
		f := NewForm(json.RawMessage(fmt.Sprintf(`{"properties":{%q:%s},"required":[%[1]q]}`, tc.property, tc.schema)),
			Options{About: tc.tool, Dir: "/home/audit"})
		c, _ := f.Next(nil, Mark{Call: 2})
		if want := fmt.Sprintf(`{%q:%q}`, tc.property, tc.want); string(c.Arguments) != want {
			t.Errorf("%s: %s, want %s", tc.tool, c.Arguments, want)
		}
	}
	f := NewForm(json.RawMessage(`{"properties":{"file_name":{"type":"string"}},"required":["file_name"]}`), Options{About: "save_note"})
	if c, _ := f.Next(nil, Mark{Call: 3}); string(c.Arguments) != `{"file_name":"marlow-c3-note.txt"}` {
		t.Errorf("a bare name: %s", c.Arguments)
	}
}

// Twelve values of a thousand are tried in one place, each once.
func TestCandidatesAreBounded(t *testing.T) {
	var rows []string
	for i := range 1000 {
		rows = append(rows, fmt.Sprintf(`{"id":"TICK-%d"}`, i))
	}
	pool := tell(t, "text tool list_tickets: ["+strings.Join(rows, ",")+"]")
	tried := map[string]int{}
	for _, c := range run(t, NewForm(json.RawMessage(ticketTools["get_ticket"]), Options{About: "get_ticket"}), pool) {
		for _, o := range c.Origins {
			tried[o.Value]++
		}
	}
	if len(tried) != maxCandidates {
		t.Errorf("%d values were tried", len(tried))
	}
}
