package sinkhole

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What libraries say of an answer that lacks something, and which field that is.
func TestMissingFields(t *testing.T) {
	for text, want := range map[string][]field{
		// Zod 3 and 4, as JSON.
		`Failed to parse: [{"code":"invalid_type","expected":"array","received":"object","path":[],"message":"Expected array, received object"}]`:                                                                {{kind: "array"}},
		`[{"expected":"string","code":"invalid_type","path":["comments",0,"createdTime"],"message":"Invalid input: expected string, received undefined"}]`:                                                       {{path: "comments.*.createdTime", kind: "string"}},
		`[{"code":"invalid_literal","expected":"OK","path":["status"]},{"code":"invalid_enum_value","options":["open","closed"],"path":["state"]}]`:                                                              {{path: "status", literal: `"OK"`}, {path: "state", literal: `"open"`}},
		`[{"code":"invalid_string","validation":"datetime","path":["at"],"message":"Invalid datetime"}]`:                                                                                                         {{path: "at", kind: "datetime"}},
		`[{"code":"invalid_union","unionErrors":[{"issues":[{"code":"x","expected":"object","path":["a"]},{"code":"x","path":["b"]}]},{"issues":[{"code":"x","expected":"array","path":["a"]}]}],"path":["a"]}]`: {{path: "a", kind: "array"}},
		`[{"code":"invalid_union","errors":[[{"code":"x","expected":"string","path":["n"]}]],"path":["a"]}]`:                                                                                                     {{path: "a.n", kind: "string"}},
		// ... and as sentences.
		`MCP error -32602: Output validation error: Invalid structured content for tool t: Invalid input: expected "locations" at type Invalid input: expected array, received undefined at results`: {
			{path: "type", literal: `"locations"`}, {path: "results", kind: "array"}},
		`Invalid arguments: name: Invalid input: expected string, received undefined, path: Invalid input: expected number, received string`: {{path: "name", kind: "string"}, {path: "path", kind: "number"}},
		`Invalid arguments: : Invalid input: expected array, received object`:                                                                {{kind: "array"}},
		"✖ Invalid input: expected string, received undefined\n  → at user.names[0].first":                                                   {{path: "user.names.*.first", kind: "string"}},
		`{"errors":[],"properties":{"grounding":{"errors":["Invalid input: expected object, received undefined"]},"sources":{"errors":["Invalid input: expected record, received undefined"]}}}`: {
			{path: "grounding", kind: "object"}, {path: "sources", kind: "record"}},
		`{"error":{"name":"ZodError","message":"[\n  {\n    \"expected\": \"string\",\n    \"code\": \"invalid_type\",\n    \"path\": [\n      \"id\"\n    ] } ]"}}`: {{path: "id", kind: "string"}},
		`Invalid arguments: source.labels: Invalid input, target.labels: Invalid input`:                                                                              {{path: "source.labels"}, {path: "target.labels"}},
		// Pydantic.
		"2 validation errors for Page\nitems.0.name\n  Field required [type=missing, input_value={}, input_type=dict]\ntotal\n  Input should be a valid integer [type=int_type, input_value='a']": {
			{path: "items.*.name", kind: "missing"}, {path: "total", kind: "integer"}},
		// Runtimes.
		`Cannot read properties of undefined (reading 'items')`:                                            {{path: "items", anywhere: true}},
		`Cannot read properties of undefined (reading 'map')`:                                              nil,
		`Error executing tool t: 'channel'`:                                                                {{path: "channel", anywhere: true}},
		`KeyError: 'data'`:                                                                                 {{path: "data", anywhere: true}},
		`TypeError: response.data.issues.map is not a function`:                                            {{path: "issues", anywhere: true, kind: "array"}},
		`e.data?.filter is not a function`:                                                                 {{path: "data", anywhere: true, kind: "array"}},
		`list indices must be integers or slices, not str`:                                                 {{kind: "object"}},
		`json: cannot unmarshal object into Go value of type []github.Repository`:                          {{kind: "array"}},
		`json: cannot unmarshal string into Go struct field Issue.user.id of type int64`:                   {{path: "user.id", kind: "int64"}},
		`mismatch types '[object Object]' and 'Array<Monitor>'`:                                            {{kind: "array"}},
		`missing required property 'layoutType'`:                                                           {{path: "layoutType", anywhere: true}},
		`datasource notes is of type note, not tempo`:                                                      {{path: "type", literal: `"tempo"`}},
		`datasource type is "note", expected "loki"`:                                                       {{path: "type", literal: `"loki"`}},
		`Expected status 'active', got 'ok'`:                                                               {{path: "status", literal: `"active"`}},
		`Expected a resource kind "Deployment", but got "note"`:                                            {{path: "kind", literal: `"Deployment"`}},
		`dashboard is not a JSON object`:                                                                   {{path: "dashboard", anywhere: true, kind: "object"}},
		`value of type string, not number`:                                                                 nil,
		`unexpected state note, not supported`:                                                             nil,
		`request failed with status 404 not found`:                                                         nil,
		`Research Error: No request_id returned from research endpoint`:                                    {{path: "request_id", anywhere: true}},
		`Error: no accessToken in the response`:                                                            {{path: "accessToken", anywhere: true}},
		`No results returned`:                                                                              nil,
		`No results`:                                                                                       nil,
		`File not found: [a.txt]`:                                                                          nil,
		`[{"code":"invalid_type","path":["` + strings.Repeat("x", 99) + `"]},{"code":"y","path":["a b"]}]`: nil,
	} {
		if diff := cmp.Diff(want, missingFields(text), cmp.AllowUnexported(field{})); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
}

func FuzzMissingFields(f *testing.F) {
	f.Add(`[{"code":"invalid_union","errors":[[{"code":"x","expected":"string","path":["n",0]}]],"path":["a"]}]`, 0)
	f.Add("Cannot read properties of undefined (reading 'items')", 1)
	f.Add("a.b[0].c: Required", 3)
	f.Add(`json: cannot unmarshal string into Go struct field A.b of type []int`, 2)
	f.Fuzz(func(t *testing.T, text string, form int) {
		missing := missingFields(text)
		if len(missing) > maxMissing {
			t.Fatalf("%d fields", len(missing))
		}
		answer, err := json.Marshal(asked{url: "https://api.example/things"}.reply(form, missing))
		if err != nil || len(answer) > 1<<20 {
			t.Errorf("%d bytes, %v", len(answer), err)
		}
	})
}

// TestRespelled: a field that an error names as a client's code does is there as answers spell it, too.
func TestRespelled(t *testing.T) {
	got, _ := asked{url: "https://a.example/"}.reply(formObject, []field{{path: "layoutType", anywhere: true}}).(map[string]any)
	if got["layoutType"] == nil || got["layout_type"] == nil {
		t.Errorf("%v lacks the field", got)
	}
}
