package probe

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// TestAttack: after the honest call come those with one value changed, and how they were
// answered is kept; a tool that is left out is not attacked.
func TestAttack(t *testing.T) {
	var sent []string
	options := Options{Attack: &attack.Plan{}, Rounds: 1, MaxCalls: 1, Skip: []string{"other"}}
	options.Given = map[string]json.RawMessage{"format_note": json.RawMessage(`{"note":"hello"}`)}
	other := strings.Replace(noteTool, "format_note", "other", 1)
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any { return tools(noteTool, other) },
		"tools/call": func(_ *fake, params map[string]any) any {
			arguments, _ := params["arguments"].(map[string]any)
			note, _ := arguments["note"].(string)
			sent = append(sent, params["name"].(string)+" "+note)
			if strings.Contains(note, "\n") {
				return map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": "one line only"}}}
			}
			return content("done")
		},
	}}
	got := f.probe(t, options)
	if len(sent) < 3 || sent[0] != "format_note hello" || len(got.Attempts) != len(sent)-1 {
		t.Fatalf("sent %q, %d attempts", sent, len(got.Attempts))
	}
	for i, a := range got.Attempts {
		refused := strings.Contains(a.Value, "\n")
		if sent[i+1] != "format_note "+a.Value || !a.Answered || a.Accepted == refused || refused && a.Answer != "one line only" {
			t.Errorf("sent %q, attempt %+v", sent[i+1], a)
		}
	}
	if got.Coverage.Calls.Total != 1 {
		t.Errorf("attempts count as calls: %+v", got.Coverage.Calls)
	}
}

// noting answers calls, and notes the tool and the note of each.
func noting(sent *[]string) func(*fake, map[string]any) any {
	return func(_ *fake, params map[string]any) any {
		arguments, _ := params["arguments"].(map[string]any)
		note, _ := arguments["note"].(string)
		*sent = append(*sent, params["name"].(string)+" "+note)
		return content("done")
	}
}

// TestFollowed: what has no arguments is called behind each command that was accepted, for it may use
// what was kept.
func TestFollowed(t *testing.T) {
	bare := `{"name":"run_show","inputSchema":{"type":"object"}}`
	var sent []string
	options := Options{Attack: &attack.Plan{}, Rounds: 1, MaxCalls: 1}
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any { return tools(noteTool, bare) },
		"tools/call": noting(&sent),
	}}
	got := f.probe(t, options)
	followed := 0
	for i, each := range sent[:len(sent)-1] {
		if strings.Contains(each, "marlow-run-c") && sent[i+1] == "run_show " {
			followed++
		}
	}
	commands := 0
	for _, a := range got.Attempts {
		if a.Family == attack.Command {
			commands++
		}
	}
	if commands == 0 || followed < commands-1 {
		t.Errorf("%d of %d were followed: %q", followed, commands, sent)
	}
}

// TestTiresome: a slow target gets a few attempts, and more only while they take little time.
func TestTiresome(t *testing.T) {
	slow, quick := &target{timeouts: 1}, &target{}
	for _, tc := range []struct {
		of   attacked
		want bool
	}{
		{attacked{target: slow, made: maxSlowAttempts, took: maxSlowTime}, true},
		{attacked{target: slow, made: maxSlowAttempts, took: maxSlowTime - 1}, false},
		{attacked{target: slow, made: 1, took: maxSlowTime}, false},
		{attacked{target: quick, made: maxSlowAttempts, took: maxSlowTime}, false},
	} {
		if got := tc.of.tiresome(); got != tc.want {
			t.Errorf("%d attempts in %s: %v", tc.of.made, tc.of.took, got)
		}
	}
}

// TestSlowAlone: a slow target has the time that no other needs.
func TestSlowAlone(t *testing.T) {
	options := quick
	options.Attack, options.Given = &attack.Plan{}, map[string]json.RawMessage{"format_note": json.RawMessage(`{"note":"hello"}`)}
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any { return tools(noteTool) },
		"tools/call": func(*fake, map[string]any) any { time.Sleep(2 * slowCall); return content("done") },
	}}
	synctest.Test(t, func(t *testing.T) {
		if got := f.within(t, 400*slowCall, options); len(got.Attempts) < leastTried || len(got.Attacks.Untried) > 0 {
			t.Errorf("%d attempts, untried are %v", len(got.Attempts), got.Attacks.Untried)
		}
	})
}

// TestUnanswered: a target that never answers in time is attacked nevertheless, a few times.
func TestUnanswered(t *testing.T) {
	options := quick
	options.Attack, options.Given = &attack.Plan{}, map[string]json.RawMessage{"format_note": json.RawMessage(`{"note":"hello"}`)}
	options.CallTimeout = time.Second
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any { return tools(noteTool) },
		"tools/call": func(*fake, map[string]any) any { return nil },
	}}
	synctest.Test(t, func(t *testing.T) {
		got := f.within(t, time.Hour, options)
		if n := len(got.Attempts); n == 0 || n > maxSlowTimeouts || len(got.Attacks.Untried) != 1 {
			t.Errorf("%d attempts, untried are %v", n, got.Attacks.Untried)
		}
	})
}

// TestUntried: what did not answer its honest call has guards that nobody tried, unless there is nothing
// to try or it is not to be called.
func TestUntried(t *testing.T) {
	bare := `{"name":"bare","inputSchema":{"type":"object"}}`
	left := strings.Replace(noteTool, "format_note", "left", 1)
	slow := strings.Replace(noteTool, "format_note", "slow", 1)
	options := Options{Attack: &attack.Plan{}, Rounds: 1, MaxCalls: 1, Skip: []string{"left"}}
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any { return tools(noteTool, bare, left, slow) },
		"tools/call": func(_ *fake, params map[string]any) any {
			if params["name"] == "slow" || params["name"] == "bare" {
				return nil
			}
			return content("done")
		},
	}}
	got := f.probe(t, options).Attacks.Untried
	if len(got) != 1 || got[0].Name != "slow" {
		t.Errorf("untried are %v", got)
	}
}

// TestUsed: a tool that was seen to use what another keeps is called behind each attempt on that which was accepted.
func TestUsed(t *testing.T) {
	export := `{"name":"export","inputSchema":{"type":"object"}}`
	var sent []string
	options := Options{Rounds: 1, MaxCalls: 1, Given: map[string]json.RawMessage{"format_note": json.RawMessage(`{"note":"hello"}`)}}
	options.Attack = &attack.Plan{Seen: map[report.Capability]attack.Seen{
		{Kind: report.CapabilityTool, Name: "export"}: {Files: []string{"/srv/hello.md"}},
	}}
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any { return tools(noteTool, export) },
		"tools/call": noting(&sent),
	}}
	got := f.probe(t, options)
	led := slices.IndexFunc(sent, func(call string) bool { return strings.HasPrefix(call, "format_note ../") })
	if led < 0 || led+1 == len(sent) || sent[led+1] != "export " {
		t.Errorf("sent %q", sent)
	}
	if i := slices.IndexFunc(got.Attempts, func(a attack.Attempt) bool { return a.Family == attack.Path }); i < 0 || len(got.Attempts[i].Users) != 1 {
		t.Errorf("the attempts do not name who uses them: %+v", got.Attempts)
	}
}

// TestAttackedResources: the first resource of each place is read by URIs that lead elsewhere.
func TestAttackedResources(t *testing.T) {
	var sent []string
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"initialize": func(*fake, map[string]any) any {
			return map[string]any{"protocolVersion": newest, "capabilities": map[string]any{"resources": map[string]any{}}, "serverInfo": map[string]any{"name": "x", "version": "1"}}
		},
		"resources/list": func(*fake, map[string]any) any {
			return map[string]any{"resources": []any{map[string]any{"uri": "file:///srv/a.txt", "name": "a"}, map[string]any{"uri": "file:///srv/b.txt", "name": "b"}}}
		},
		"resources/read": func(_ *fake, params map[string]any) any {
			sent = append(sent, params["uri"].(string))
			return map[string]any{"contents": []any{map[string]any{"uri": params["uri"], "text": "x"}}}
		},
	}}
	got := f.probe(t, Options{Attack: &attack.Plan{}, Rounds: 1, MaxCalls: 1})
	if !slices.ContainsFunc(sent, func(uri string) bool { return strings.HasPrefix(uri, "file:///var/tmp/marlow-elsewhere/") }) {
		t.Errorf("read %q", sent)
	}
	if slices.ContainsFunc(got.Attempts, func(a attack.Attempt) bool { return a.Of.Name == "file:///srv/b.txt" }) {
		t.Error("another resource of the same place was attacked")
	}
}

// TestUsedByID: a tool that takes the id under which another stores something is called with it after each attempt.
func TestUsedByID(t *testing.T) {
	var rendered []string
	save := `{"name":"save_layout","inputSchema":{"type":"object","properties":{"id":{"type":"string"},"body":{"type":"string"}},"required":["id","body"]}}`
	render := `{"name":"render","inputSchema":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}}`
	options := Options{Attack: &attack.Plan{}, Rounds: 1, MaxCalls: 1}
	options.Given = map[string]json.RawMessage{"save_layout": json.RawMessage(`{"id":"a","body":"x"}`), "render": json.RawMessage(`{"id":"b"}`)}
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any { return tools(save, render) },
		"tools/call": func(_ *fake, params map[string]any) any {
			arguments, _ := params["arguments"].(map[string]any)
			if id, _ := arguments["id"].(string); params["name"] == "render" {
				rendered = append(rendered, id)
			}
			return content("done")
		},
	}}
	f.probe(t, options)
	used := 0
	for _, id := range rendered {
		if id == "a" {
			used++
		}
	}
	if used < 8 {
		t.Errorf("rendered %q", rendered)
	}
}

// TestChosen: only what the operator has chosen counts as given, and not what an earlier session had accepted.
func TestChosen(t *testing.T) {
	note := map[string]json.RawMessage{"format_note": json.RawMessage(`{"note":"hello"}`)}
	for name, chosen := range map[string]map[string]json.RawMessage{"by the operator": note, "accepted before": nil} {
		t.Run(name, func(t *testing.T) {
			f := &fake{on: map[string]func(*fake, map[string]any) any{
				"tools/list": func(*fake, map[string]any) any { return tools(noteTool) },
			}}
			got := f.probe(t, Options{Rounds: 1, MaxCalls: 1, Given: note, Chosen: chosen}).Arguments[report.Capability{Kind: report.CapabilityTool, Name: "format_note"}]
			if len(got) != 1 || got[0].Value != "hello" || got[0].Given != (chosen != nil) {
				t.Errorf("arguments %+v", got)
			}
		})
	}
}

// TestClientAnswersHaveNoMarkOfAnAttempt: a tool that shows what a model or a user answered does not show what a query made
// of its argument.
func TestClientAnswersHaveNoMarkOfAnAttempt(t *testing.T) {
	params := json.RawMessage(`{"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`)
	for _, method := range []string{"sampling/createMessage", "elicitation/create"} {
		for tried, want := range map[*attack.Plan]bool{nil: true, {}: false} {
			s := &session{options: Options{Attack: tried}, outputs: &outputs{id: 7}, used: newArguments()}
			said, err := json.Marshal(s.answer(method, params))
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Contains(inputs.Marks(said), (inputs.Mark{Call: 7}).ID()); got != want {
				t.Errorf("%s, guards tried %t: %s", method, tried != nil, said)
			}
		}
	}
}
