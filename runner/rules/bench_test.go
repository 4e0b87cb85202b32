package rules

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// BenchmarkJudge shows that judging takes time in proportion to the number of effects: one effect that is seen in
// many places, files that a tool writes when it is called again, and secrets that it looks for.
func BenchmarkJudge(b *testing.B) {
	for name, effect := range map[string]func(i int) profile.Effect{
		"programs": func(int) profile.Effect { return run(call, "/usr/bin/foo", "foo", "x") },
		"files":    func(i int) profile.Effect { return again(stored(fmt.Sprintf("/srv/%d", i))) },
		"secrets": func(i int) profile.Effect {
			return profile.Effect{Fact: profile.Fact{Kind: profile.KindLook, Path: fmt.Sprintf("/srv/%d/.ssh/id_rsa", i), Operation: "newfstatat"}, Where: call}
		},
	} {
		for _, n := range []int{1 << 12, 1 << 16} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				effects := make([]profile.Effect, n)
				for i := range effects {
					effects[i] = effect(i)
					effects[i].Time = time.Unix(int64(i), 0)
				}
				in := hinting("Formats a note.", idempotent, effects...)
				for b.Loop() {
					Judge(in)
				}
			})
		}
	}
}
