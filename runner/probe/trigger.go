package probe

import (
	"context"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// maxTriggers bounds the calls with values of the server's code, by number.
const maxTriggers = 512

// trigger calls accepted tools with what the server's code may act on. As in endure, failures count for nothing.
func (s *session) trigger(ctx context.Context, all []*target, most time.Duration) {
	if s.options.Values == nil || len(all) == 0 {
		return
	}
	values := s.options.Values()
	end := time.Now().Add(most)
	ctx, cancel := context.WithDeadline(ctx, end.Add(slowRepeat))
	defer cancel()
	for i, t := range all {
		share := time.Now().Add(time.Until(end) / time.Duration(len(all)-i))
		o := s.options.Inputs
		o.Given = s.options.Chosen[t.of.Name]
		next := inputs.NewTriggers(t.input, t.again.Arguments, values, o)
		if s.triggerOne(ctx, t, next, maxTriggers/len(all), share) != nil {
			return
		}
	}
}

func (s *session) triggerOne(ctx context.Context, t *target, next *inputs.Triggers, often int, end time.Time) error {
	s.begin(methods[t.of.Kind], report.PhaseCall, t.of)
	known := map[string]bool{}
	s.enduring.Store(true)
	defer s.enduring.Store(false)
	for ; often > 0 && time.Now().Before(end); often-- {
		c := inputs.Case{Shape: t.again.Shape}
		var more bool
		if c.Arguments, more = next.Next(s.mark()); !more {
			break
		}
		s.used.add(t.of, c.Arguments, nil)
		got, err := s.call(ctx, t, c)
		if err != nil {
			return err
		}
		s.keep(got, c, known)
	}
	s.enduring.Store(false)
	return s.awaitQuiet(ctx)
}
