package profile_test

import (
	"fmt"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// distinct returns n events with different effects.
func distinct(n int) []trace.Event {
	var r recorder
	for i := range n {
		r.add(inNote, read(fmt.Sprintf("/srv/data/%d", i)))
	}
	return r.events
}

// BenchmarkAdd measures one event: of a known effect, and of a new one for which
// there is no room.
func BenchmarkAdd(b *testing.B) {
	for _, bm := range []struct {
		name   string
		events []trace.Event
	}{
		{"known", distinct(profile.DefaultEffects)},
		{"no room", distinct(4 * profile.DefaultEffects)},
	} {
		b.Run(bm.name, func(b *testing.B) {
			builder := profile.New(profile.Limits{})
			for _, e := range bm.events {
				builder.Add(e)
			}
			last := len(bm.events) - profile.DefaultEffects
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				builder.Add(bm.events[last+i%profile.DefaultEffects])
				i++
			}
		})
	}
}

// BenchmarkBuild measures the largest possible profile.
func BenchmarkBuild(b *testing.B) {
	builder := profile.New(profile.Limits{})
	for _, e := range distinct(profile.DefaultEffects) {
		builder.Add(e)
	}
	b.ReportAllocs()
	for b.Loop() {
		if p := builder.Build(session); len(p.Effects) != profile.DefaultEffects {
			b.Fatalf("%d effects", len(p.Effects))
		}
	}
}
