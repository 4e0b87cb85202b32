package rules

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// BenchmarkJudge: what it takes grows as the number of effects: of one that is seen in many
// places, or of files that a tool writes when it is called again.
func BenchmarkJudge(b *testing.B) {
	for name, effect := range map[string]func(i int) profile.Effect{
		"programs": func(int) profile.Effect { return run(call, "/usr/bin/foo", "foo", "x") },
		"files":    func(i int) profile.Effect { return again(stored(fmt.Sprintf("/srv/%d", i))) },
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
