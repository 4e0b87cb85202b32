package probe

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// A launch that gives calls two seconds gives lists what they take: without them nothing can be compared.
func TestListsTakeTheirTime(t *testing.T) {
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any {
			time.Sleep(20 * time.Second)
			return tools(noteTool)
		},
	}}
	o := quick
	o.CallTimeout = 2 * time.Second
	synctest.Test(t, func(t *testing.T) {
		if r := f.within(t, time.Hour, o); !r.Listed || r.Incomplete.Reason != "" {
			t.Errorf("listed %t: %+v", r.Listed, r.Incomplete)
		}
	})
}

// A list that has no answer ends no more than itself: the others are asked for, and everything is called.
func TestSilentLists(t *testing.T) {
	everything := func(*fake, map[string]any) any {
		return map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}, "resources": map[string]any{}, "prompts": map[string]any{}}}
	}
	silent := func(*fake, map[string]any) any { return nil }
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"initialize": everything, "resources/list": silent, "resources/templates/list": silent,
		"prompts/list": func(*fake, map[string]any) any {
			return map[string]any{"prompts": []any{map[string]any{"name": "greet"}}}
		},
	}}
	r := f.probe(t, quick)
	if !r.Listed || !r.Relisted || r.Incomplete.Reason != "" || r.Coverage.Tools.Accepted != 1 || r.Coverage.Prompts.Listed != 1 || len(r.Drift.Removed) > 0 {
		t.Errorf("listed %t, again %t, incomplete %+v, %+v, drift %+v", r.Listed, r.Relisted, r.Incomplete, r.Coverage, r.Drift)
	}
	if want := []report.CapabilityKind{report.CapabilityResource, report.CapabilityResourceTemplate}; !slices.Equal(r.Silent, want) {
		t.Errorf("silent: %v", r.Silent)
	}
	if asked := len(f.saw("resources/list")); asked != 1 {
		t.Errorf("asked %d times for a list that had no answer", asked)
	}

	f = &fake{on: map[string]func(*fake, map[string]any) any{"initialize": everything, "tools/list": silent}}
	if r := f.probe(t, quick); r.Listed || r.Incomplete.Reason != report.ReasonTimeout {
		t.Errorf("without tools: listed %t, %+v", r.Listed, r.Incomplete)
	}
}

// A list that was answered before keeps what it had.
func TestListThatFallsSilent(t *testing.T) {
	asked := 0
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"initialize": func(*fake, map[string]any) any {
			return map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}, "prompts": map[string]any{}}}
		},
		"prompts/list": func(*fake, map[string]any) any {
			if asked++; asked > 1 {
				return nil
			}
			return map[string]any{"prompts": []any{map[string]any{"name": "greet"}}}
		},
	}}
	if r := f.probe(t, quick); !r.Relisted || len(r.After.Prompts) != 1 || !r.Drift.Empty() || len(r.Silent) != 1 {
		t.Errorf("listed again %t: %d prompts, drift %+v, silent %v", r.Relisted, len(r.After.Prompts), r.Drift, r.Silent)
	}
}

// A list that is refused for want of a local service is requested again, once that is simulated.
func TestRefusedLists(t *testing.T) {
	up := false
	answer := func(*fake, map[string]any) any {
		if !up {
			return rpcFailure{-32603, "connect ECONNREFUSED 127.0.0.1:5432"}
		}
		return map[string]any{"resources": []any{map[string]any{"uri": "table://a", "name": "a"}}}
	}
	f := &fake{
		calling: func(c Calling) { up = up || c.Ended && c.Refusal != "" },
		on: map[string]func(*fake, map[string]any) any{
			"initialize": func(*fake, map[string]any) any {
				return map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}, "resources": map[string]any{}}}
			},
			"resources/list": answer, "resources/templates/list": func(*fake, map[string]any) any { return map[string]any{"resourceTemplates": []any{}} },
			"resources/read": func(*fake, map[string]any) any {
				return map[string]any{"contents": []any{map[string]any{"uri": "table://a", "text": "x"}}}
			},
		},
	}
	if r := f.probe(t, quick); !r.Listed || r.Incomplete.Reason != "" || r.Coverage.Resources.Listed != 1 {
		t.Errorf("listed %t, incomplete %+v, %+v", r.Listed, r.Incomplete, r.Coverage.Resources)
	}

	f.calling = func(Calling) {}
	up = false
	if r := f.probe(t, quick); r.Listed || r.Incomplete.Reason != report.ReasonProtocolError {
		t.Errorf("without a service: listed %t, %+v", r.Listed, r.Incomplete)
	}
	if asked := len(f.saw("resources/list")); asked > 2+2*mostBlamed {
		t.Errorf("asked %d times in all", asked)
	}
}
