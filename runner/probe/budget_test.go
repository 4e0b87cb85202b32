package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// A tool that never answers is given up the second time, and all else is called.
func TestToolThatNeverReturns(t *testing.T) {
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any { return tools(`{"name":"a"}`, `{"name":"b"}`) },
		"tools/call": func(_ *fake, params map[string]any) any {
			if params["name"] == "a" {
				return nil
			}
			return content("done")
		},
	}}
	o := quick
	o.Rounds, o.MaxCalls = 4, 24
	r := f.probe(t, o)
	want := []string{"a", "b", "a", "b", "b", "b"}
	if !reflect.DeepEqual(f.called(), want) || len(f.saw("notifications/cancelled")) != 2 {
		t.Errorf("called %q, cancelled %v", f.called(), f.saw("notifications/cancelled"))
	}
	if r.Incomplete.Reason != "" || r.Exercise[0].Skipped != report.SkippedTimeout || r.Exercise[1].Skipped != "" {
		t.Errorf("%+v, %+v", r.Incomplete, r.Exercise)
	}
}

// The budget is spread: a slow tool does not use up the time of others, and one that
// never answers leaves them half of what there is.
func TestBudget(t *testing.T) {
	of := func(a func() any) *fake {
		return &fake{on: map[string]func(*fake, map[string]any) any{
			"tools/list": func(*fake, map[string]any) any { return tools(`{"name":"a"}`, `{"name":"b"}`, `{"name":"c"}`) },
			"tools/call": func(_ *fake, params map[string]any) any {
				if params["name"] == "a" {
					return a()
				}
				return content("done")
			},
		}}
	}
	o := quick
	o.Rounds, o.MaxCalls = 10, 24
	synctest.Test(t, func(t *testing.T) {
		slow := of(func() any { time.Sleep(2 * time.Second); return content("done") })
		r := slow.within(t, 5*time.Second, o)
		if r.Incomplete.Reason != "" || r.Coverage.Tools.Accepted != 3 {
			t.Errorf("%+v, %+v", r.Incomplete, r.Coverage)
		}
		if a, b := r.Exercise[0], r.Exercise[1]; a.Calls.Total != 1 || a.Skipped != report.SkippedBudget || b.Calls.Total != 10 || b.Skipped != "" {
			t.Errorf("rows %+v", r.Exercise)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		silent := of(func() any { return nil })
		r := silent.within(t, 4*time.Second, o)
		if r.Incomplete.Reason != "" || r.Exercise[0].Skipped == "" || r.Coverage.Tools.Accepted != 2 {
			t.Errorf("%+v, %+v", r.Incomplete, r.Coverage)
		}
		if lists := silent.saw("tools/list"); len(lists) != 2 {
			t.Errorf("%d lists", len(lists))
		}
	})
}

// A server that starts slowly keeps time for its next starts, but never more than half of what is left.
func TestSlowToBegin(t *testing.T) {
	o := quick
	o.Rounds, o.MaxCalls, o.Following, o.Reserved = 100, 100, 2, 10*time.Second
	for begins, ends := range map[time.Duration]time.Duration{time.Second: 90 * time.Second, 10 * time.Second: 61 * time.Second, 50 * time.Second: 70 * time.Second} {
		lists := 0
		f := &fake{on: map[string]func(*fake, map[string]any) any{
			"tools/list": func(*fake, map[string]any) any {
				if lists++; lists == 1 {
					time.Sleep(begins)
				}
				return tools(`{"name":"a"}`)
			},
			"tools/call": func(*fake, map[string]any) any { time.Sleep(time.Second); return content("done") },
		}}
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			r := f.within(t, 100*time.Second, o)
			if took := time.Since(began); r.Incomplete.Reason != "" || took > ends+time.Second || took < ends-3*time.Second {
				t.Errorf("one that begins in %s took %s, not about %s: %+v", begins, took, ends, r.Incomplete)
			}
		})
	}
}

// Tools that hang take no more than their share while others wait for their first call.
func TestManyHang(t *testing.T) {
	const hanging = 40
	list := make([]string, hanging+1)
	for i := range list {
		list[i] = fmt.Sprintf(`{"name":"t%d"}`, i)
	}
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any { return tools(list...) },
		"tools/call": func(_ *fake, params map[string]any) any {
			if params["name"] == fmt.Sprintf("t%d", hanging) {
				return content("done")
			}
			return nil
		},
	}}
	o := quick
	o.CallTimeout = 30 * time.Second
	synctest.Test(t, func(t *testing.T) {
		r := f.within(t, 3*time.Minute, o)
		if r.Incomplete.Reason != "" || r.Coverage.Tools.Accepted != 1 {
			t.Errorf("%+v, %+v", r.Incomplete, r.Coverage.Tools)
		}
	})
}

// The first call that hangs leaves time for the first calls of the others: the more of them, the less it has.
func TestPatience(t *testing.T) {
	for waiting, want := range map[int]time.Duration{0: 30 * time.Second, 3: 30 * time.Second, 19: 20 * time.Second, 99: promptPatience} {
		synctest.Test(t, func(t *testing.T) {
			s := &session{waiting: waiting, budget: budget{end: time.Now().Add(100 * time.Second)}}
			if got := s.patience(30 * time.Second); got != want {
				t.Errorf("%d wait: %s, want %s", waiting, got, want)
			}
		})
	}
}

// What another session has shown to be slow is called in two rounds, whatever it takes now.
func TestKnownSlow(t *testing.T) {
	o := quick
	o.Rounds, o.MaxCalls, o.Prompt = 5, 5, map[report.Capability]bool{{Kind: report.CapabilityTool, Name: "a"}: true}
	f := &fake{on: map[string]func(*fake, map[string]any) any{
		"tools/list": func(*fake, map[string]any) any { return tools(`{"name":"a"}`, `{"name":"b"}`) },
		"tools/call": func(*fake, map[string]any) any { return content("done") },
	}}
	f.probe(t, o)
	if got, want := f.called(), []string{"a", "b", "a", "b", "a", "a", "a"}; !reflect.DeepEqual(got, want) {
		t.Errorf("called %q, want %q", got, want)
	}
}

func TestLeftOut(t *testing.T) {
	s := &session{options: quick.withDefaults(), outputs: newOutputs(), used: newArguments()}
	of := func(name string) report.Capability { return report.Capability{Kind: report.CapabilityTool, Name: name} }
	s.targets = []*target{
		{of: of("a"), sent: 1, answered: 1, skipped: report.SkippedBudget}, {of: of("b"), skipped: report.SkippedBudget},
		{of: of("c"), skipped: report.SkippedByName, out: true},
	}
	s.account()
	if got := s.result.Incomplete; got.Reason != report.ReasonTimeout || !strings.HasSuffix(got.Message, "1 of 3: tool b") {
		t.Errorf("%+v", got)
	}
	s.targets, s.result = s.targets[:1], Result{}
	if s.account(); s.result.Incomplete.Reason != "" {
		t.Errorf("a later round cut short: %+v", s.result.Incomplete)
	}
}

func TestAffords(t *testing.T) {
	now := time.Now()
	s := &session{budget: budget{begin: now.Add(-30 * time.Second), end: now.Add(30 * time.Second)}}
	for name, tc := range map[string]struct {
		t      target
		others int // that had no call
		want   bool
	}{
		"the first":             {target{}, 2, true},
		"within its share":      {target{sent: 1, spent: time.Second, slowest: time.Second}, 0, true},
		"beyond its share":      {target{sent: 2, accepted: 1, spent: 15 * time.Second, slowest: 8 * time.Second}, 0, false},
		"always refused":        {target{sent: 2, spent: 15 * time.Second, slowest: 8 * time.Second}, 0, true},
		"refused for too long":  {target{sent: 9, spent: 75 * time.Second, slowest: 8 * time.Second}, 0, false},
		"at the cost of others": {target{sent: 1, spent: 9 * time.Second, slowest: 9 * time.Second}, 2, false},
	} {
		s.targets = []*target{&tc.t, {sent: 1}, {sent: 1}}
		s.waiting = tc.others
		if got := s.affords(&tc.t); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	s.budget.end = now
	if s.affords(&target{}) {
		t.Error("no time is left")
	}
}

// Schemas that take long to read are not read when there is no time for calls.
func TestNoTimeForSchemas(t *testing.T) {
	s := newSession(Conn{Stdin: discard{}, Stdout: io.NopCloser(strings.NewReader(""))}, quick)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	s.budget = newBudget(ctx, 0, 0)
	s.enlist(manifest.Manifest{Tools: []json.RawMessage{[]byte(noteTool)}})
	if got := s.targets[0]; !got.out || got.form != nil || got.skipped != report.SkippedBudget {
		t.Errorf("%+v", got)
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
