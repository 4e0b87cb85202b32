package trace_test

import (
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestClockGoesFastAgain: a clock that goes fast twice goes at normal speed between, and Elapsed inverts Seen.
func TestClockGoesFastAgain(t *testing.T) {
	twice := trace.Clock{Rate: 100, For: 3 * time.Second, Again: 10 * time.Second}
	for elapsed, want := range map[time.Duration]time.Duration{
		time.Second: 100 * time.Second, 3 * time.Second: 300 * time.Second, 9 * time.Second: 306 * time.Second,
		10500 * time.Millisecond: 357 * time.Second, 11 * time.Second: 407 * time.Second, 20 * time.Second: 465500 * time.Millisecond,
	} {
		if got := twice.Seen(elapsed); got != want {
			t.Errorf("after %s %s, want %s", elapsed, got, want)
		}
		if got := twice.Elapsed(want); got != elapsed {
			t.Errorf("%s are seen after %s, want %s", want, got, elapsed)
		}
	}
	if got := twice.Slow(); got != 11500*time.Millisecond+trace.MostTrue {
		t.Errorf("slow after %s", got)
	}
	if got, err := trace.ParseClock(twice.String()); err != nil || got != twice {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := trace.ParseClock("0s,100,3s,2s"); err == nil {
		t.Errorf("it goes fast again before it is slow: %+v", got)
	}
}

// TestClock: Seen and From agree: the date advances as much as the clock.
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
