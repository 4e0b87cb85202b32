package rules

import (
	"fmt"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// BenchmarkJudge: what it takes grows as the number of places in which the same is done.
func BenchmarkJudge(b *testing.B) {
	for _, n := range []int{1 << 12, 1 << 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			effects := make([]profile.Effect, n)
			for i := range effects {
				effects[i] = run(call, "/usr/bin/foo", "foo", "x")
				effects[i].Time = time.Unix(int64(i), 0)
			}
			in := input(local, effects...)
			for b.Loop() {
				Judge(in)
			}
		})
	}
}
