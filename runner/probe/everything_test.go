package probe

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// capable is a fake with resources, prompts and all that goes with them.
func capable() *fake {
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"initialize": func(*fake, map[string]any) any {
			return map[string]any{"protocolVersion": newest, "capabilities": json.RawMessage(
				`{"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}}`)}
		},
		"resources/list": func(*fake, map[string]any) any {
			return json.RawMessage(`{"resources":[{"uri":"note://1","name":"one"},{"uri":"note://2","name":"two"}]}`)
		},
		"resources/templates/list": func(*fake, map[string]any) any {
			return json.RawMessage(`{"resourceTemplates":[{"uriTemplate":"note://{shelf}/{book}"}]}`)
		},
		"prompts/list": func(*fake, map[string]any) any {
			return json.RawMessage(`{"prompts":[{"name":"greet","arguments":[{"name":"city","required":true}]}]}`)
		},
		"resources/read": func(_ *fake, params map[string]any) any {
			return map[string]any{"contents": []any{map[string]any{"uri": params["uri"], "text": fmt.Sprint("this is ", params["uri"])}}}
		},
		"prompts/get": func(_ *fake, params map[string]any) any {
			arguments, _ := params["arguments"].(map[string]any)
			if arguments["city"] != "Reykjavik" {
				return rpcFailure{-32602, "no such city"}
			}
			return json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"It is cold."}}]}`)
		},
		"tools/list":            unknown,
		"resources/subscribe":   func(*fake, map[string]any) any { return map[string]any{} },
		"resources/unsubscribe": func(*fake, map[string]any) any { return map[string]any{} },
		"logging/setLevel":      func(*fake, map[string]any) any { return map[string]any{} },
	}}
	f.on["completion/complete"] = func(_ *fake, params map[string]any) any {
		argument, _ := params["argument"].(map[string]any)
		switch argument["name"] {
		case "city":
			return json.RawMessage(`{"completion":{"values":["Reykjavik"]}}`)
		case "shelf":
			if argument["value"] != "1" {
				return json.RawMessage(`{"completion":{"values":[]}}`)
			}
			return json.RawMessage(`{"completion":{"values":["17"]}}`)
		}
		context, _ := params["context"].(map[string]any)
		if !reflect.DeepEqual(context["arguments"], map[string]any{"shelf": "17"}) {
			return rpcFailure{-32602, "which shelf?"}
		}
		return json.RawMessage(`{"completion":{"values":["Njal"]}}`)
	}
	return f
}

// output finds what was said with a text in it.
func output(r Result, text string) (report.Output, bool) {
	i := slices.IndexFunc(r.Outputs, func(o report.Output) bool { return strings.Contains(o.Text, text) })
	if i < 0 {
		return report.Output{}, false
	}
	return r.Outputs[i], true
}

// What completions offer is argued with; resources are subscribed to and read; the
// log is asked for.
func TestEverythingAdvertised(t *testing.T) {
	f := capable()
	r := f.probe(t, thorough())
	c := r.Coverage
	if r.Incomplete.Reason != "" || c.Completions != (report.Exercised{Listed: 3, Called: 3, Accepted: 3}) ||
		c.Subscriptions != (report.Exercised{Listed: 2, Called: 2, Accepted: 2}) || c.Prompts.Accepted != 1 || c.ResourceTemplates.Accepted != 1 {
		t.Errorf("%+v, coverage %+v", r.Incomplete, c)
	}
	if o, ok := output(r, "It is cold."); !ok || fmt.Sprint(o.Origins) != `[city "Reykjavik" from the completion of prompt greet]` {
		t.Errorf("output %+v", o)
	}
	if _, ok := output(r, "this is note://17/Njal"); !ok {
		t.Errorf("the template was not expanded with what completions offer: %+v", r.Outputs)
	}
	if n := len(f.saw("resources/unsubscribe")); n != 2 {
		t.Errorf("%d subscriptions given up", n)
	}
	if level := f.saw("logging/setLevel"); len(level) != 1 {
		t.Errorf("log levels %v", level)
	}
	calls := 0
	for _, e := range r.Ledger {
		if e.Phase == report.PhaseCall {
			calls++
		}
	}
	if c.Calls.Total != calls {
		t.Errorf("%d calls of %d exchanges", c.Calls.Total, calls)
	}
}

// Each call asks for its progress, by a token of its own; lists do not.
func TestProgressTokens(t *testing.T) {
	f := tracker()
	f.probe(t, thorough())
	for _, m := range f.saw("tools/call") {
		params, _ := m["params"].(map[string]any)
		if meta, _ := params["_meta"].(map[string]any); meta["progressToken"] != m["id"] {
			t.Errorf("request %v has the token %v", m["id"], meta["progressToken"])
		}
	}
	for _, m := range f.saw("tools/list") {
		if params, _ := m["params"].(map[string]any); params["_meta"] != nil {
			t.Errorf("list %v", m)
		}
	}
}

// What a server says by itself is kept with the call that it came with.
func TestNotificationsAndRequestsAreKept(t *testing.T) {
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/call": func(f *fake, _ map[string]any) any {
			f.println(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"logged \u001b[31m"}}`)
			f.println(`{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"Say it."}}]}}`)
			return content("done")
		},
	}}
	r := f.probe(t, quick)
	for text, want := range map[string]report.Output{
		"logged \x1b[31m": {Kind: report.OutputNotification, Method: "notifications/message", Count: 1},
		"Say it.":         {Kind: report.OutputRequest, Method: "sampling/createMessage", Count: 1},
		"done":            {Kind: report.OutputResult, Method: "tools/call", Count: 1},
	} {
		o, ok := output(r, text)
		if !ok || o.Kind != want.Kind || o.Method != want.Method || o.Count != want.Count || o.Capability.String() != "tool format_note" || o.Arguments == "" {
			t.Errorf("%q: %+v", text, o)
		}
	}
}

// A tool that is a task only is called as one, where the server has tasks.
func TestTasks(t *testing.T) {
	const tool = `{"name":"research","execution":{"taskSupport":"required"}}`
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"initialize": func(*fake, map[string]any) any {
			return map[string]any{"protocolVersion": newest, "capabilities": json.RawMessage(`{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}`)}
		},
		"tools/list": func(*fake, map[string]any) any { return tools(tool) },
		"tools/call": func(_ *fake, params map[string]any) any {
			if params["task"] == nil {
				return rpcFailure{-32600, "only as a task"}
			}
			return json.RawMessage(`{"task":{"taskId":"t1","status":"working"}}`)
		},
		"tasks/get":    func(*fake, map[string]any) any { return json.RawMessage(`{"taskId":"t1","status":"completed"}`) },
		"tasks/result": func(*fake, map[string]any) any { return content("found") },
	}}
	r := f.probe(t, quick)
	if o, ok := output(r, "found"); !ok || r.Incomplete.Reason != "" || r.Coverage.Tools.Accepted != 1 || o.Method != "tasks/result" {
		t.Errorf("%+v, %+v", r.Incomplete, r.Outputs)
	}

	without := &fake{on: map[string]func(*fake, map[string]any) any{"tools/list": f.on["tools/list"]}}
	r = without.probe(t, quick)
	if r.Incomplete.Reason != report.ReasonNotExercised || r.Exercise[0].Skipped != report.SkippedTask || len(without.called()) != 0 {
		t.Errorf("%+v, %+v", r.Incomplete, r.Exercise)
	}
}

// The lists of all kinds are compared, but for resources: calls are there to change
// what they list. What is new is exercised.
func TestDriftOfAllKinds(t *testing.T) {
	for name, tc := range map[string]struct {
		announce  string
		announced bool
	}{"silently": {"", false}, "announced": {promptsChanged, true}, "something else announced": {toolsChanged, false}} {
		t.Run(name, func(t *testing.T) {
			f := capable()
			read := false
			f.on["resources/read"] = func(f *fake, _ map[string]any) any {
				if !read && tc.announce != "" {
					f.println(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, tc.announce))
				}
				read = true
				return map[string]any{"contents": []any{}}
			}
			first := f.on["prompts/list"]
			f.on["prompts/list"] = func(f *fake, params map[string]any) any {
				if !read {
					return first(f, params)
				}
				return json.RawMessage(`{"prompts":[{"name":"greet","arguments":[{"name":"city","required":true}]},{"name":"new"}]}`)
			}
			f.on["resources/list"] = func(*fake, map[string]any) any {
				if !read {
					return json.RawMessage(`{"resources":[{"uri":"note://1"}]}`)
				}
				return json.RawMessage(`{"resources":[{"uri":"note://2"}]}`)
			}
			r := f.probe(t, quick)
			if want := (report.Drift{Added: []string{"prompt new"}}); !reflect.DeepEqual(r.Drift, want) || r.Announced != tc.announced {
				t.Errorf("drift %v, announced %t", r.Drift, r.Announced)
			}
			if r.Coverage.Prompts.Called != 2 || r.Coverage.Resources.Called != 2 || r.Incomplete.Reason != "" {
				t.Errorf("coverage %+v, %+v", r.Coverage, r.Incomplete)
			}
		})
	}
}
