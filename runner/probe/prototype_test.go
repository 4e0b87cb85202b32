package probe

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/attack"
)

// TestPolluted: a value that no call gave is found; one that the server has stored is not.
func TestPolluted(t *testing.T) {
	merging := `{"name":"update","inputSchema":{"type":"object","properties":{"settings":{"type":"string","description":"Settings as JSON"}}}}`
	greet := `{"name":"greet","inputSchema":{"type":"object","properties":{"person":{"type":"string"}}}}`
	given := func(arguments map[string]any) (all map[string]any) {
		text, _ := arguments["settings"].(string)
		_ = json.Unmarshal([]byte(text), &all)
		return all
	}
	for name, tc := range map[string]struct {
		keep func(kept, given map[string]any)
		want string
	}{
		"all objects": {func(kept, given map[string]any) {
			if all, ok := given["__proto__"].(map[string]any); ok {
				kept["person"] = all["person"]
			}
		}, `settings by the key "__proto__" greet`},
		"by its constructor": {func(kept, given map[string]any) {
			if of, ok := given["constructor"].(map[string]any); ok {
				all, _ := of["prototype"].(map[string]any)
				kept["person"] = all["person"]
			}
		}, `settings by the keys "constructor" and "prototype" greet`},
		"what is kept":   {func(kept, given map[string]any) { kept["person"] = fmt.Sprint(given) }, ""},
		"its own keys":   {func(kept, given map[string]any) { kept["person"] = given["person"] }, ""},
		"what is quoted": {func(kept, given map[string]any) { kept["person"] = fmt.Sprint(given["__proto__"], " of __proto__") }, ""},
		"nothing":        {func(map[string]any, map[string]any) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			kept := map[string]any{}
			f := &fake{on: map[string]func(*fake, map[string]any) any{
				"tools/list": func(*fake, map[string]any) any { return tools(merging, greet) },
				"tools/call": func(_ *fake, params map[string]any) any {
					arguments, _ := params["arguments"].(map[string]any)
					if params["name"] == "update" {
						tc.keep(kept, given(arguments))
						return content("updated")
					}
					person := arguments["person"]
					if person == nil {
						person = kept["person"]
					}
					return content(fmt.Sprint("Hello ", person))
				},
			}}
			options := Options{Attack: &attack.Plan{}, Rounds: 1, MaxCalls: 1}
			options.Given = map[string]json.RawMessage{"update": json.RawMessage(`{"settings":"{\"theme\":\"red\"}"}`), "greet": json.RawMessage(`{"person":"Ann"}`)}
			got := ""
			for _, s := range f.probe(t, options).Polluted {
				got += s.Field + " " + s.Form + " " + s.By.Name
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestPollutedArgument: a call without an argument that is demanded is accepted once all objects have it.
func TestPollutedArgument(t *testing.T) {
	set := `{"name":"set","inputSchema":{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"string"}},"required":["key","value"]}}`
	for name, tc := range map[string]struct{ pollutes, demands, found bool }{
		"found in the prototype": {true, true, true},
		"demanded still":         {false, true, false},
		"not demanded":           {true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere := ""
			f := &fake{on: map[string]func(*fake, map[string]any) any{
				"tools/list": func(*fake, map[string]any) any { return tools(set) },
				"tools/call": func(_ *fake, params map[string]any) any {
					arguments, _ := params["arguments"].(map[string]any)
					key, _ := arguments["key"].(string)
					if tc.pollutes && key == "__proto__.key" {
						everywhere = "polluted"
					}
					if key == "" && everywhere == "" && tc.demands {
						return map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": "key is required"}}}
					}
					return content("done")
				},
			}}
			options := Options{Attack: &attack.Plan{}, Rounds: 1, MaxCalls: 1, Given: map[string]json.RawMessage{"set": json.RawMessage(`{"key":"ui.theme","value":"red"}`)}}
			if got := f.probe(t, options).Polluted; (len(got) == 1) != tc.found {
				t.Errorf("polluted are %+v", got)
			}
		})
	}
}

// TestPollutedRecursion: a call that was accepted without the argument never ends once all objects hold themselves.
func TestPollutedRecursion(t *testing.T) {
	set := `{"name":"set","inputSchema":{"type":"object","properties":{"settings":{"type":"object"}}}}`
	for name, tc := range map[string]struct {
		before, after string
		found         bool
	}{
		"without an end":        {"", "Maximum call stack size exceeded", true},
		"without an end before": {"Maximum call stack size exceeded", "Maximum call stack size exceeded", false},
		"another error":         {"", "settings is required", false},
	} {
		t.Run(name, func(t *testing.T) {
			polluted := false
			f := &fake{on: map[string]func(*fake, map[string]any) any{
				"tools/list": func(*fake, map[string]any) any { return tools(set) },
				"tools/call": func(_ *fake, params map[string]any) any {
					arguments, _ := params["arguments"].(map[string]any)
					settings, _ := arguments["settings"].(map[string]any)
					said := tc.before
					if polluted = polluted || settings["__proto__"] != nil; polluted {
						said = tc.after
					}
					if settings != nil || said == "" {
						return content("done")
					}
					return map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": said}}}
				},
			}}
			options := Options{Attack: &attack.Plan{}, Rounds: 1, MaxCalls: 1, Given: map[string]json.RawMessage{"set": json.RawMessage(`{"settings":{"theme":"red"}}`)}}
			if got := f.probe(t, options).Polluted; (len(got) == 1) != tc.found {
				t.Errorf("polluted are %+v", got)
			}
		})
	}
}

// TestPollutedResult: the result of the polluting call shows what all objects have, or its server refuses all requests
// then. The server is started again, because what else is tried there shows nothing.
func TestPollutedResult(t *testing.T) {
	set := `{"name":"set","inputSchema":{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"string"}},"required":["key","value"]}}`
	for name, tc := range map[string]struct{ always, shows, member, deaf bool }{
		"in the result":   {false, true, true, false},
		"in every result": {true, true, false, false},
		"by silence":      {false, false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			polluted := false
			f := &fake{on: map[string]func(*fake, map[string]any) any{
				"tools/list": func(_ *fake, _ map[string]any) any {
					if polluted && !tc.shows {
						return rpcFailure{-32700, "invalid message"}
					}
					return tools(set)
				},
				"tools/call": func(_ *fake, params map[string]any) any {
					arguments, _ := params["arguments"].(map[string]any)
					if polluted = polluted || arguments["key"] == "__proto__.key"; polluted && !tc.shows {
						return nil
					}
					result := content("done")
					if polluted || tc.always {
						result.(map[string]any)["key"] = arguments["value"]
					}
					return result
				},
			}}
			options := Options{Attack: &attack.Plan{}, Rounds: 1, MaxCalls: 1, CallTimeout: 200 * time.Millisecond, Given: map[string]json.RawMessage{"set": json.RawMessage(`{"key":"ui.theme","value":"red"}`)}}
			got := f.probe(t, options)
			if tc.always && len(got.Polluted) > 0 || !tc.always && (len(got.Polluted) != 1 || got.Polluted[0].Member != tc.member || got.Polluted[0].Deaf != tc.deaf || got.Attacks.Ended.Name != "set" || len(got.Attempts) > 0) {
				t.Errorf("polluted are %+v, attacks %+v", got.Polluted, got.Attacks)
			}
		})
	}
}
