package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestAnEffectIsBounded: an effect takes the memory that DefaultEffects states.
func TestAnEffectIsBounded(t *testing.T) {
	long := "/" + strings.Repeat("x", 8192)
	var r recorder
	run := execute(long)
	for range 64 {
		run.Argv = append(run.Argv, long[:1024])
	}
	r.add(inNote, run)
	r.add(inNote, read(long))
	for _, e := range r.build(profile.Limits{}).Effects {
		if size := len(e.Path) + len(strings.Join(e.Argv.Words(), " ")); size > 4096+2048 {
			t.Errorf("%s: %d bytes", e.Kind, size)
		}
	}
}

// TestBounded: many unimportant effects do not push out important ones.
func TestBounded(t *testing.T) {
	const home = "/home/decoy"
	precious := []trace.Event{
		connect("tcp", "192.0.2.1:443"), execute("/usr/bin/curl"), read(home + "/.ssh/id_rsa"), write(home + "/.bashrc"),
	}
	flood := func(r *recorder) {
		for i := range 500 {
			r.add(inNote, failed("ENOENT", read(fmt.Sprintf("/data/missing-%d", i))))
			r.add(inNote, read(fmt.Sprintf("/data/file-%d", i)))
			r.add(inNote, write(fmt.Sprintf("/data/out-%d", i)))
		}
	}
	for name, fill := range map[string]func(*recorder){
		"before the flood": func(r *recorder) {
			for _, e := range precious {
				r.add(inNote, e)
			}
			flood(r)
		},
		"after the flood": func(r *recorder) {
			flood(r)
			for _, e := range precious {
				r.add(inNote, e)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var r recorder
			fill(&r)
			p := r.build(profile.Limits{Effects: 10, Home: home})
			if len(p.Effects) != 10 {
				t.Fatalf("%d effects, want 10", len(p.Effects))
			}
			if want := len(r.events) - 10; p.Dropped != want {
				t.Errorf("Dropped = %d, want %d", p.Dropped, want)
			}
			kept := map[string]bool{}
			for _, e := range p.Effects {
				kept[string(e.Kind)+" "+e.Path+e.Address] = true
			}
			for _, want := range []string{"Connect 192.0.2.1", "Exec /usr/bin/curl",
				"Read " + home + "/.ssh/id_rsa", "Write " + home + "/.bashrc"} {
				if !kept[want] {
					t.Errorf("%q was dropped", want)
				}
			}
		})
	}
}

// TestTheSameInManyPlacesIsCheap: a file that is read in every call is kept in each place at a fraction of a new
// file's cost: a server that repeats itself is seen completely.
func TestTheSameInManyPlacesIsCheap(t *testing.T) {
	const calls = 100
	for name, file := range map[string]func(int) string{
		"the same": func(int) string { return "/etc/gitconfig" },
		"another":  func(call int) string { return fmt.Sprintf("/srv/%d", call) },
	} {
		var l ledger.Ledger
		b := profile.New(profile.Limits{Effects: calls/4 + 1})
		for call := range int64(calls) {
			tool := report.Capability{Kind: report.CapabilityTool, Name: fmt.Sprint("tool-", call)}
			l = append(l, ledger.Exchange{Phase: report.PhaseCall, Capability: tool, SentStart: 100 * call, SentEnd: 100 * (call + 1), Received: 100 * (call + 1)})
			e := read(file(int(call)))
			e.At = trace.Position{In: 100 * (call + 1), Out: 100 * call}
			b.Add(e)
		}
		want := map[string]int{"the same": calls, "another": calls/4 + 1}[name]
		if p := b.Build(l); len(p.Effects) != want || p.Dropped != calls-want {
			t.Errorf("%s: %d effects of %d calls, %d dropped, want %d", name, len(p.Effects), calls, p.Dropped, want)
		}
	}
}
