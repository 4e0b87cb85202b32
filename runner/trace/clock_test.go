package trace_test

import (
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Seen and From agree: the date advances by as much as the clock.
func TestClock(t *testing.T) {
	week := trace.Clock{Forward: time.Hour, Rate: 100, For: 3 * time.Second}
	for elapsed, want := range map[time.Duration]time.Duration{0: 0, time.Second: 100 * time.Second, 10 * time.Second: 307 * time.Second} {
		if got := week.Seen(elapsed); got != want {
			t.Errorf("after %s %s, want %s", elapsed, got, want)
		}
	}
	if got := (trace.Clock{}).Seen(time.Minute); got != time.Minute {
		t.Errorf("the true time goes by as %s", got)
	}
	began := time.Now()
	if ahead := time.Until(week.From(began)()); ahead < time.Hour-time.Second || ahead > 2*time.Hour {
		t.Errorf("the date is %s ahead", ahead)
	}
}
