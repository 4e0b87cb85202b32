package inputs

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

// values are the arguments of a call, as a server reads them.
type values map[string]any

// has counts the names that have a value.
func (v values) has(names ...string) (n int) {
	for _, name := range names {
		if v[name] != nil {
			n++
		}
	}
	return n
}

// lacks returns the first name without a value; "" for none.
func (v values) lacks(names ...string) string {
	for _, name := range names {
		if v[name] == nil {
			return name
		}
	}
	return ""
}

// guard returns what a server answers to arguments that it does not take; "" for others.
type guard func(values) string

// exactly refuses arguments with none, or with several, of some names.
func exactly(refusal string, names ...string) guard {
	return func(v values) string {
		if v.has(names...) != 1 {
			return refusal
		}
		return ""
	}
}

// atLeast refuses those without any of some names, atMost those with several.
func atLeast(refusal string, names ...string) guard {
	return func(v values) string {
		if v.has(names...) == 0 {
			return refusal
		}
		return ""
	}
}

func atMost(refusal string, names ...string) guard {
	return func(v values) string {
		if v.has(names...) > 1 {
			return refusal
		}
		return ""
	}
}

// together refuses arguments with some of the names, but not all.
func together(refusal string, names ...string) guard {
	return func(v values) string {
		if n := v.has(names...); n > 0 && n < len(names) {
			return refusal
		}
		return ""
	}
}

// all refuses arguments that lack one of some names, which may stand in the refusal as %s.
func all(refusal string, names ...string) guard {
	return func(v values) string { return saying(refusal, v.lacks(names...)) }
}

func saying(refusal, lacking string) string {
	if lacking == "" {
		return ""
	}
	return strings.ReplaceAll(refusal, "%s", lacking)
}

// when applies a guard where a name has a value.
func when(name string, value any, then guard) guard {
	return func(v values) string {
		if v[name] != value {
			return ""
		}
		return then(v)
	}
}

// matches refuses a text that does not match; %s in the refusal is the text.
func matches(name, pattern, refusal string) guard {
	form := regexp.MustCompile(pattern)
	return func(v values) string {
		if text, is := v[name].(string); is && !form.MatchString(text) {
			return strings.ReplaceAll(refusal, "%s", text)
		}
		return ""
	}
}

// later refuses a date that is not after another; %s is the date. An empty name is the day of the test.
func later(name, than, refusal string) guard {
	return func(v values) string {
		text, is := v[name].(string)
		before := "2026-11-30"
		if than != "" {
			before, _ = v[than].(string)
		}
		if is && text <= before {
			return strings.ReplaceAll(refusal, "%s", text)
		}
		return ""
	}
}

// zod3 is an error of the TypeScript SDK for zod 3, zod4 that of its later versions, pydantic that of FastMCP.
func zod3(path, code, message string) string {
	return fmt.Sprintf(`MCP error -32602: Invalid arguments for tool t: [`+"\n"+`  {"code": "%s", "message": %q, "path": [%s]}`+"\n]", code, message, path)
}

func zod4(path, message string) string {
	return fmt.Sprintf(`MCP error -32602: Input validation error: Invalid arguments for tool t: [{"code":"custom","path":[%s],"message":%q}]`, path, message)
}

func pydantic(at, message string) string {
	return fmt.Sprintf("Error executing tool t: 1 validation error for tArguments\n%s\n  Value error, %s [type=value_error, input_value={'q': 'milk'}, input_type=dict]\n"+
		"    For further information visit https://errors.pydantic.dev/2.11/v/value_error", at, message)
}

const (
	pathOrContent = `{"properties":{"path":{"type":"string","description":"File to parse"},"content":{"type":"string","description":"Text to parse"}}}`
	idOrName      = `{"properties":{"id":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"name":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}}}`
	startAndEnd   = `{"properties":{"calendar":{"type":"string"},"start":{"type":"string"},"end":{"type":"string"}},"required":["calendar"]}`
	actions       = `{"properties":{"action":{"type":"string","enum":["create","delete","list"]},"title":{"type":"string"},"body":{"type":"string"},"id":{"type":"string"}},"required":["action"]}`
	flags         = `{"properties":{"pattern":{"type":"string"},"include":{"type":"array","items":{"type":"string"}},"exclude":{"type":"array","items":{"type":"string"}}},"required":["pattern"]}`
	dates         = `{"properties":{"start_date":{"type":"string","format":"date"},"end_date":{"type":"string","format":"date"}},"required":["start_date","end_date"]}`
)

// Tools in the style of published ones accept a call of each kind that they have after few refusals. first is how
// many calls may be made before one is accepted; branches are arguments that must be accepted some time.
func TestToolsAcceptCalls(t *testing.T) {
	for name, tc := range map[string]struct {
		said, schema string
		guard        guard
		first        int
		reach        string
	}{
		// Exactly one of several arguments.
		"one of, in the description": {"Parses a document. Provide either `path` or `content`, not both.", pathOrContent, exactly("bad request", "path", "content"), 1, "path content"},
		"one of, pydantic":           {"", idOrName, exactly(pydantic("", "exactly one of id, name must be given"), "id", "name"), 2, "id name"},
		"one of, hand-written":       {"", pathOrContent, exactly("Error: provide either `path` or `content`, not both", "path", "content"), 2, "path content"},
		"one of, Go":                 {"", idOrName, exactly("exactly one of the fields \"id\" or \"name\" must be set", "id", "name"), 2, "id name"},
		"one of, zod refine":         {"", pathOrContent, exactly(zod3("", "custom", "Provide exactly one of path or content"), "path", "content"), 2, "path content"},
		"one of, zod 4":              {"", pathOrContent, exactly(zod4("", "Exactly one of path, content is required"), "path", "content"), 2, "path content"},
		"one of, in two refusals": {"", pathOrContent, func(v values) string {
			return atLeast("Either path or content is required", "path", "content")(v) + atMost("Cannot specify both path and content", "path", "content")(v)
		}, 2, "path content"},
		"one of, in JSON":           {"", pathOrContent, exactly(`{"error":{"code":"INVALID_ARGUMENT","message":"Specify one of path or content but not both"}}`, "path", "content"), 2, "path content"},
		"one of, by the properties": {"", `{"properties":{"url":{"type":"string","description":"URL to load. Mutually exclusive with html."},"html":{"type":"string","description":"HTML to load. Either url or html must be provided."}}}`, exactly("bad request", "url", "html"), 1, "url html"},
		"one of three":              {"Exactly one of `owner`, `team` or `org` must be specified.", `{"properties":{"owner":{"type":"string"},"team":{"type":"string"},"org":{"type":"string"}}}`, exactly("nope", "owner", "team", "org"), 1, "owner team org"},
		"oneOf of required":         {"", `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"oneOf":[{"required":["path"]},{"required":["content"]}]}`, exactly("must match exactly one schema in oneOf", "path", "content"), 1, "path content"},
		"anyOf of required":         {"", `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"anyOf":[{"required":["path"]},{"required":["content"]}]}`, atLeast("must match a schema in anyOf", "path", "content"), 1, "path content"},
		"oneOf below allOf":         {"", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"}},"allOf":[{"oneOf":[{"required":["a"]},{"required":["b"]}]},{"oneOf":[{"required":["c"]},{"required":["d"]}]}]}`, func(v values) string { return exactly("oneOf", "a", "b")(v) + exactly("oneOf", "c", "d")(v) }, 1, "a b c d"},
		"not both":                  {"", `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"x":{"type":"string"}},"not":{"required":["path","content"]}}`, atMost("not", "path", "content"), 1, "path content x"},
		"not anyOf":                 {"", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}},"not":{"anyOf":[{"required":["a","b"]},{"required":["a","c"]}]}}`, func(v values) string { return atMost("not", "a", "b")(v) + atMost("not", "a", "c")(v) }, 1, "a b c"},
		"one of, German":            {"", pathOrContent, exactly("Entweder path oder content muss angegeben werden", "path", "content"), 2, "path content"},
		"one of, Chinese":           {"", pathOrContent, exactly("必须提供path或content其中之一", "path", "content"), 2, "path content"},
		// Mutually exclusive flags.
		"exclusive, hand-written":       {"", flags, atMost("include and exclude are mutually exclusive", "include", "exclude"), 1, "include exclude"},
		"exclusive, cannot be combined": {"", flags, atMost("'include' cannot be combined with 'exclude'", "include", "exclude"), 1, "include exclude"},
		"exclusive, argparse":           {"", flags, atMost("argument --exclude: not allowed with argument --include", "include", "exclude"), 1, "include exclude"},
		"exclusive, described":          {"", `{"properties":{"staged":{"type":"boolean"},"commit":{"type":"string","description":"Commit to show; cannot be used together with staged"},"depth":{"type":"integer"}}}`, atMost("bad flags", "staged", "commit"), 1, "staged commit depth"},
		"exclusive, needs another": {"", `{"properties":{"q":{"type":"string"},"page":{"type":"integer","description":"Requires per_page. Do not use with cursor."},"per_page":{"type":"integer"},"cursor":{"type":"string"}},"required":["q"]}`, func(v values) string {
			if v["page"] != nil {
				return all("no", "per_page")(v) + atMost("no", "page", "cursor")(v)
			}
			return ""
		}, 1, "page cursor per_page"},
		// What must come together.
		"both required, hand-written": {"", startAndEnd, all("start and end are both required", "start", "end"), 2, "start end"},
		"both or none":                {"", startAndEnd, together("start and end must be provided together", "start", "end"), 1, "start end"},
		"both or none, pydantic":      {"", startAndEnd, together(pydantic("", "both start and end must be set, or neither"), "start", "end"), 1, "start end"},
		"both or none, described":     {"Lists events. `start` and `end` must be given together.", startAndEnd, together("bad", "start", "end"), 1, "start end"},
		"needs, described":            {"", `{"properties":{"q":{"type":"string"},"lat":{"type":"number","description":"Latitude (requires lon)"},"lon":{"type":"number","description":"Longitude (requires lat)"}},"required":["q"]}`, together("no", "lat", "lon"), 1, "lat lon"},
		"dependentRequired": {"", `{"properties":{"card":{"type":"string"},"address":{"type":"string"}},"dependentRequired":{"card":["address"]}}`, func(v values) string {
			if v["card"] != nil {
				return all("must have property address when property card is present", "address")(v)
			}
			return ""
		}, 1, "card address"},
		"dependentSchemas": {"", `{"properties":{"card":{"type":"string"},"a":{"type":"string"},"b":{"type":"string"},"address":{"type":"string"}},"dependentSchemas":{"card":{"required":["address"]}}}`, func(v values) string {
			if v["card"] != nil {
				return all("must have address", "address")(v)
			}
			return ""
		}, 1, "card address"},
		"several missing":          {"", actions, all("Missing required parameters: title, body", "title", "body"), 2, "title body"},
		"missing in JSON-RPC data": {"", startAndEnd, all("Invalid params\n"+`{"missing":["start","end"]}`, "start", "end"), 2, "start end"},
		"missing, ajv":             {"", startAndEnd, all("data must have required property '%s'", "start", "end"), 3, "start end"},
		"missing, pydantic":        {"", startAndEnd, all("2 validation errors for call[t]\nstart\n  Missing required argument [type=missing_argument, input_value={'calendar': 'x'}, input_type=dict]\nend\n  Field required [type=missing, input_value={}, input_type=dict]", "start", "end"), 2, "start end"},
		"missing, Spanish":         {"", startAndEnd, all("El parámetro '%s' es obligatorio", "start", "end"), 3, "start end"},
		"missing, Russian":         {"", startAndEnd, all("Не указан обязательный параметр %s", "start", "end"), 3, "start end"},
		"missing, Chinese":         {"", startAndEnd, all("缺少参数%s", "start", "end"), 3, "start end"},
		"missing, Japanese":        {"", startAndEnd, all("%sは必須です", "start", "end"), 3, "start end"},
		// What the value of one argument decides.
		"action, in the description": {"Manages notes. For create: title, body; for delete: id.", actions, func(v values) string {
			return when("action", "create", all("bad", "title", "body"))(v) + when("action", "delete", all("bad", "id"))(v)
		}, 1, "title body id"},
		"action, in a list": {"Manages notes.\n\nActions:\n- list: all notes\n- create: requires title and body\n- delete: requires id", actions, func(v values) string {
			return when("action", "create", all("bad", "title", "body"))(v) + when("action", "delete", all("bad", "id"))(v)
		}, 1, "title body id"},
		"action, by the properties": {"", `{"properties":{"action":{"enum":["create","delete","list"]},"title":{"type":"string","description":"Title of the note (required for create)"},"id":{"type":"string","description":"The note. Required when action is 'delete'"}},"required":["action"]}`, func(v values) string {
			return when("action", "create", all("bad", "title"))(v) + when("action", "delete", all("bad", "id"))(v)
		}, 1, "title id"},
		"action, hand-written": {"", actions, func(v values) string {
			return when("action", "create", all("%s is required for create action", "title", "body"))(v) + when("action", "delete", all("id is required when action is 'delete'", "id"))(v)
		}, 3, "title body id"},
		"action, zod path": {"", actions, func(v values) string {
			return when("action", "create", func(v values) string {
				if name := v.lacks("title", "body"); name != "" {
					return zod3(`"`+name+`"`, "custom", "Required for action create")
				}
				return ""
			})(v) + when("action", "delete", all(zod4(`"id"`, "Required"), "id"))(v)
		}, 3, "title body id"},
		"action, discriminated union": {"", `{"type":"object","oneOf":[{"properties":{"action":{"const":"create"},"title":{"type":"string"}},"required":["action","title"]},{"properties":{"action":{"const":"delete"},"id":{"type":"string"}},"required":["action","id"]}]}`, func(v values) string {
			return when("action", "create", all("bad", "title"))(v) + when("action", "delete", all("bad", "id"))(v)
		}, 1, "title id"},
		"action, if and then": {"", `{"type":"object","properties":{"action":{"enum":["create","delete","list"]},"title":{"type":"string"},"id":{"type":"string"}},"required":["action"],"allOf":[{"if":{"properties":{"action":{"const":"create"}}},"then":{"required":["title"]}},{"if":{"properties":{"action":{"const":"delete"}},"required":["action"]},"then":{"required":["id"]}},{"if":{"properties":{"action":{"enum":["list"]}}},"then":{"not":{"required":["id"]}}}]}`, func(v values) string {
			return when("action", "create", all("bad", "title"))(v) + when("action", "delete", all("bad", "id"))(v) + when("action", "list", func(v values) string { return strings.Repeat("bad", v.has("id")) })(v)
		}, 1, "title id"},
		"mode, only with": {"", `{"properties":{"mode":{"enum":["tail","range"]},"lines":{"type":"integer","description":"Only valid when mode is tail"},"offset":{"type":"integer","description":"Required if mode=range"}},"required":["mode"]}`, func(v values) string {
			return when("mode", "range", func(v values) string {
				return all("bad", "offset")(v) + strings.Repeat("lines is not allowed", v.has("lines"))
			})(v)
		}, 1, "lines offset"},
		// What a value has to be like.
		"after, hand-written": {"", dates, later("end_date", "start_date", "end_date must be after start_date"), 1, "start_date end_date"},
		"in the future": {"", `{"properties":{"when":{"type":"string","description":"When to remind"}},"required":["when"]}`, func(v values) string {
			if _, err := time.Parse(time.RFC3339, fmt.Sprint(v["when"])); err != nil {
				return "expected ISO 8601 date in the future"
			}
			return later("when", "", "expected ISO 8601 date in the future")(v)
		}, 2, "when"},
		"a past date":         {"", `{"properties":{"due_date":{"type":"string","format":"date"}},"required":["due_date"]}`, later("due_date", "", "due_date: %s is in the past"), 2, "due_date"},
		"a date, pydantic":    {"", `{"properties":{"begin":{"type":"string"}},"required":["begin"]}`, matches("begin", `^\d{4}-\d\d-\d\d`, "1 validation error for tArguments\nbegin\n  Input should be a valid date or datetime, invalid character in year [type=date_from_datetime_parsing, input_value='%s', input_type=str]"), 2, "begin"},
		"a format, ajv":       {"", `{"properties":{"day_of":{"type":"string"}},"required":["day_of"]}`, matches("day_of", `^\d{4}-\d\d-\d\d$`, `data/day_of must match format "date"`), 2, "day_of"},
		"a UUID, zod 4":       {"", `{"properties":{"run":{"type":"string"}},"required":["run"]}`, matches("run", `^[0-9a-f]{8}-`, zod4(`"run"`, "Invalid UUID")), 2, "run"},
		"a pattern, ajv":      {"", `{"properties":{"sku":{"type":"string"}},"required":["sku"]}`, matches("sku", `^[A-Z]{3}-[0-9]{4}$`, `data/sku must match pattern "^[A-Z]{3}-[0-9]{4}$"`), 2, "sku"},
		"a pattern, pydantic": {"", `{"properties":{"sku":{"type":"string"}},"required":["sku"]}`, matches("sku", `^[A-Z]{3}-\d{4}$`, "1 validation error for tArguments\nsku\n  String should match pattern '^[A-Z]{3}-\\d{4}$' [type=string_pattern_mismatch, input_value='%s', input_type=str]"), 2, "sku"},
		"a pattern, zod":      {"", `{"properties":{"sku":{"type":"string"}},"required":["sku"]}`, matches("sku", `^[A-Z]{3}-\d{4}$`, zod4(`"sku"`, `Invalid string: must match pattern /^[A-Z]{3}-\d{4}$/`)), 2, "sku"},
		"supported values":    {"", `{"properties":{"unit":{"type":"string"}},"required":["unit"]}`, matches("unit", `^(celsius|kelvin)$`, "unsupported value '%s' for unit; supported: celsius, kelvin"), 2, "unit"},
		"an option, zod 4":    {"", `{"properties":{"unit":{"type":"string"}},"required":["unit"]}`, matches("unit", `^(celsius|kelvin)$`, `MCP error -32602: Input validation error: [{"code":"invalid_value","values":["celsius","kelvin"],"path":["unit"],"message":"Invalid option: expected one of \"celsius\"|\"kelvin\""}]`), 2, "unit"},
		"at least two items": {"", `{"properties":{"points":{"type":"array","items":{"type":"string"}}},"required":["points"]}`, func(v values) string {
			if list, _ := v["points"].([]any); len(list) < 2 {
				return "points: at least 2 items are required"
			}
			return ""
		}, 2, "points"},
		"at least three items, pydantic": {"", `{"properties":{"points":{"type":"array","items":{"type":"number"}}},"required":["points"]}`, func(v values) string {
			if list, _ := v["points"].([]any); len(list) < 3 {
				return "1 validation error for tArguments\npoints\n  List should have at least 3 items after validation, not 1 [type=too_short, input_value=[1], input_type=list]"
			}
			return ""
		}, 2, "points"},
		"for the default of another": {"", `{"properties":{"mode":{"type":"string","enum":["begin","resume"],"default":"begin"},"upstream":{"type":"string"},"text":{"type":"string"}},"required":["text"]}`,
			func(v values) string {
				if v["mode"] == "resume" {
					return "nothing to resume"
				}
				return atLeast("upstream is required for begin mode", "upstream")(v)
			}, 2, "upstream"},
		"a property of an object that is left out": {"", `{"properties":{"params":{"type":"object","properties":{"workflow":{"type":"string"},"fast":{"type":"boolean"},"quiet":{"type":"boolean"}}}}}`,
			func(v values) string {
				params, _ := v["params"].(map[string]any)
				return atLeast("workflow is required and could not be determined", "workflow")(params)
			}, 2, "params"},
		"what V8 says of a text that is no JSON": {"", `{"properties":{"task":{"type":"string"},"data":{"type":"string"}},"required":["task","data"]}`,
			func(v values) string {
				text, _ := v["data"].(string)
				if json.Valid([]byte(text)) {
					return ""
				}
				return fmt.Sprintf(`Unexpected token '%.1s', "%.10s"... is not valid JSON`, text, text)
			}, 3, "data"},
		"one of several, once another is given": {"", `{"properties":{"kind":{"type":"string"},"name":{"type":"string"},"label":{"type":"string"},"force":{"type":"boolean"}},"required":["kind"]}`,
			atLeast("MCP error -32600: When using kind, either name or label must be provided", "name", "label"), 2, "name"},
		"required, and what it could not be read from": {"", `{"properties":{"workflow":{"type":"string"},"page":{"type":"string"}}}`,
			func(v values) string {
				if v["workflow"] == nil || v["page"] != nil {
					return "workflow is required and could not be determined from page."
				}
				return ""
			}, 2, "workflow"},
		"one group or another": {"", `{"properties":{"file":{"type":"string"},"old_text":{"type":"string"},"new_text":{"type":"string"},"range":{"type":"string"},"content":{"type":"string"}},"required":["file"]}`,
			func(v values) string {
				if v.has("old_text", "new_text") == 2 && v.has("range", "content") == 0 || v.has("range", "content") == 2 && v.has("old_text", "new_text") == 0 {
					return ""
				}
				return zod3("", "custom", "Must provide either (old_text + new_text) or (range + content)")
			}, 2, "old_text"},
		// Names that code spells otherwise, and refusals that say nothing of what was left out.
		"another spelling": {"", `{"properties":{"project_id":{"type":"string"},"merge_request_iid":{"type":"string"},"source_branch":{"type":"string"}},"required":["project_id"]}`,
			atLeast("Either mergeRequestIid or branchName must be provided", "merge_request_iid", "source_branch"), 2, "merge_request_iid"},
		"the same refusal": {"", `{"properties":{"query":{"type":"string"},"draft":{"type":"string"},"final":{"type":"string"}},"required":["query"]}`,
			atLeast("Either theDraft or theResult must be provided", "draft", "final"), 4, "draft"},
	} {
		t.Run(name, func(t *testing.T) {
			f := NewForm(json.RawMessage(tc.schema), Options{About: "t", Said: tc.said, Dir: "/home/audit"})
			first, reached, log := 0, map[string]bool{}, []string{}
			for call := 1; call <= 24; call++ {
				c, ok := f.Next(nil, Mark{Call: call})
				if !ok {
					break
				}
				var v values
				if err := json.Unmarshal(c.Arguments, &v); err != nil {
					t.Fatal(err)
				}
				refusal := tc.guard(v)
				f.Answered(c, refusal == "")
				log = append(log, fmt.Sprintf("%s %s: %.60q", c.Shape, c.Arguments, refusal))
				if refusal != "" {
					f.Refused(c, refusal)
					continue
				}
				if first == 0 {
					first = call
				}
				for name := range v {
					reached[name] = true
				}
			}
			missed := strings.Fields(tc.reach)
			for name := range reached {
				missed = strings.Fields(strings.ReplaceAll(" "+strings.Join(missed, " ")+" ", " "+name+" ", " "))
			}
			if first == 0 || first > tc.first || len(missed) > 0 {
				t.Errorf("call %d was the first that was accepted, want %d; never accepted with %s\n%s", first, tc.first, missed, strings.Join(log, "\n"))
			}
		})
	}
}
