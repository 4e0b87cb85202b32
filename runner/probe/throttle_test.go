package probe

import (
	"context"
	"testing"
	"time"
)

func TestPauseIn(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"Rate limit reached! You get 10 requests/min.\n\nOr wait 58 seconds...": 58 * time.Second,
		"Too many requests, retry after 3s":                                     3 * time.Second,
		"rate limit exceeded; resets in 20 secs":                                20 * time.Second,
		"Rate limit exceeded, try again later":                                  0,
		"the job did not end after 30 seconds":                                  0,
		"quota: wait for an administrator, 15 seconds at most":                  15 * time.Second,
	} {
		if got := pauseIn(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestAbides: a server that asks to wait is not called meanwhile, if that leaves time.
func TestAbides(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for within, want := range map[time.Duration]int{time.Hour: 1, time.Second: 0} {
		s := &session{budget: budget{end: time.Now().Add(within)}}
		if err := s.abide(ended, &target{}, "rate limit: retry after 9 s"); s.pauses != want || (err != nil) != (want > 0) {
			t.Errorf("%s left: %d pauses, %v; want %d", within, s.pauses, err, want)
		}
	}
}
