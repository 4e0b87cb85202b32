package probe

import (
	"context"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// pace is the time between calls on a fast clock: less than one hour of that.
const pace = 15 * time.Millisecond

// allHours waits until the second round may begin. Towards the end of that time it calls everything again and again,
// then nothing, and then lists: a server may act at one hour of the day, or after hours without a call. As in endure,
// it waits for no silence, and failures count for nothing.
func (s *session) allHours(ctx context.Context) error {
	if s.options.Until.IsZero() {
		return nil
	}
	if wait := time.Until(s.options.Until.Add(-s.options.Hours)); wait > 0 {
		if err := s.pause(ctx, wait); err != nil {
			return err
		}
	}
	incomplete, silent := s.result.Incomplete, s.silent
	s.enduring.Store(true)
	s.hourly(ctx)
	s.result.Incomplete, s.silent = incomplete, silent
	s.enduring.Store(false)
	if wait := time.Until(s.options.Until); wait > 0 {
		if err := s.pause(ctx, wait); err != nil {
			return err
		}
	}
	if err := s.awaitQuiet(ctx); err != nil {
		return err
	}
	return s.look(ctx) // at what is listed when nothing was called for long
}

// hourly calls everything in turn until the time is up. Every second time it begins again at once, which is some
// minutes later on a fast clock: a server may act at the pace of a person.
func (s *session) hourly(ctx context.Context) {
	known, end := map[*target]map[string]bool{}, s.options.Until.Add(-s.options.Alone)
	for pause := pace; s.pause(ctx, pause) == nil; pause = pace - pause {
		called := false
		for _, t := range ordered(s.targets) {
			if !time.Now().Before(end) {
				return
			}
			if t.accepted == 0 || t.out || t.slowest >= slowRepeat || s.options.Unhurried[t.of] || len(known[t]) == maxUnlike {
				continue
			}
			if known[t] == nil {
				known[t] = map[string]bool{}
			}
			called = true
			c := s.repeated(t)
			s.begin(methods[t.of.Kind], report.PhaseCall, t.of)
			s.used.add(t.of, c.Arguments, nil)
			got, err := s.call(ctx, t, c)
			if err != nil {
				return // the next may take as long
			}
			s.keep(got, c, known[t])
		}
		if !called {
			return
		}
	}
}
