package probe

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

const (
	maxRepeats    = 250         // of one target, or of the lists, unless few targets leave time for more
	maxAllRepeats = 1250        // of all targets
	maxUnlike     = 64          // different texts of one target
	slowRepeat    = time.Second // from which a call is too slow to be repeated
)

// endure repeats accepted calls, and the lists, without waiting until the server is
// quiet, because a server may change its behaviour after many calls. All calls of a target are consecutive, so that
// late effects belong to the same target. A failure here does not make the session incomplete.
func (s *session) endure(ctx context.Context) {
	if s.options.Endure <= 0 || !s.result.Listed {
		return
	}
	most := s.options.Endure
	if left, bounded := s.budget.left(); bounded {
		most = min(most, left/4)
	}
	incomplete, silent, lists := s.result.Incomplete, s.silent, len(s.result.Silent)
	defer func() {
		if len(s.result.Silent) > lists { // answered before, and with less time here than any list needs
			s.result.Silent, s.result.Unendured = s.result.Silent[:lists], append(s.result.Unendured, server)
		}
		s.result.Incomplete, s.silent = incomplete, silent
		s.enduring.Store(false)
	}()
	var all []*target
	for _, t := range ordered(s.targets) {
		switch {
		case t.accepted == 0 || t.out:
		case t.slowest >= slowRepeat:
			s.result.Unendured = append(s.result.Unendured, t.of)
		default:
			all = append(all, t)
		}
	}
	end := time.Now().Add(most)
	within, cancel := context.WithDeadline(ctx, end.Add(slowRepeat))
	defer cancel()
	often := min(maxRepeats, maxAllRepeats/(len(all)+1))
	for i, t := range all {
		share := time.Until(end) / time.Duration(len(all)-i+1)
		n, err := s.repeat(within, t, often, time.Now().Add(share))
		if n < often {
			s.result.Unendured = append(s.result.Unendured, t.of)
		}
		if err != nil {
			return
		}
	}
	if s.setLevel(within, usualLog) != nil {
		return
	}
	is, differs := s.listRepeatedly(within, often, end)
	if !differs {
		_ = s.setLevel(within, completeLog) // the session is over if it fails
		s.goOn(within, all, often, end)
		s.mingle(ctx, all, most/2)
		s.trigger(ctx, all, most/2)
		return
	}
	s.enduring.Store(false)
	if s.result.Drift.Empty() {
		s.result.Later = is
	}
	_, _ = s.callNew(ctx, is.After) // the session is over, however this ends
}

// goOn repeats the calls of few targets further, up to maxAllRepeats with what was repeated before, or as far as the
// server's code counts, if there is time.
func (s *session) goOn(ctx context.Context, all []*target, before int, end time.Time) {
	if len(all) == 0 {
		return
	}
	often := maxAllRepeats / len(all)
	if s.options.Values != nil {
		often = max(often, s.options.Values().Count+1)
	}
	for i, t := range all {
		share := time.Until(end) / time.Duration(len(all)-i)
		if _, err := s.repeat(ctx, t, often-before, time.Now().Add(share)); err != nil || share <= 0 {
			return
		}
		if err := s.comeBack(ctx, t); err != nil {
			return
		}
	}
}

// comeBack makes the first of the varied calls once more, because a server may keep what people come back to.
func (s *session) comeBack(ctx context.Context, t *target) error {
	if t.early.Arguments == nil {
		return nil
	}
	s.begin(methods[t.of.Kind], report.PhaseCall, t.of)
	got, err := s.call(ctx, t, t.early)
	if err != nil {
		return err
	}
	s.keep(got, t.early, map[string]bool{})
	return s.awaitQuiet(ctx)
}

// repeat makes the same call until the time is up, and returns how often; every other time
// with other values, because a server may react to certain words, or count new ones. After an error nothing more is
// requested.
func (s *session) repeat(ctx context.Context, t *target, often int, end time.Time) (n int, err error) {
	s.begin(methods[t.of.Kind], report.PhaseCall, t.of)
	known := map[string]bool{}
	s.enduring.Store(true)
	for ; n < often && (n == 0 || time.Now().Before(end)); n++ {
		c := inputs.Case{Arguments: t.again.Arguments, Shape: t.again.Shape}
		if n%2 == 1 {
			c = s.other(t, c, n/2)
			if t.early.Arguments == nil {
				t.early = c
			}
		}
		got, err := s.call(ctx, t, c)
		if err != nil {
			return n, err // also where there was no answer: the next may take as long
		}
		if !got.accepted {
			t.deny(c)
		}
		s.keep(got, c, known)
	}
	s.enduring.Store(false)
	return n, s.awaitQuiet(ctx)
}

// other returns a call with the nth other values, if there are any.
func (s *session) other(t *target, c inputs.Case, n int) inputs.Case {
	if other, ok := inputs.Varied(t.input, c.Arguments, n, s.mark()); ok {
		c.Arguments = other
		s.used.add(t.of, c.Arguments, nil)
	}
	return c
}

// keep keeps an answer that differs from the known ones.
func (s *session) keep(got reply, c inputs.Case, known map[string]bool) {
	kind, text := report.OutputError, got.said()
	if got.accepted {
		kind = report.OutputResult
	}
	switch like := WithoutDigits(unechoed(text, c.Arguments)); {
	case known[like]:
	case len(known) == maxUnlike:
		s.outputs.omit()
	default:
		known[like] = true
		s.outputs.answered(kind, text)
	}
}

// leastEcho is the length of the shortest argument that is recognized in an answer, in bytes.
const leastEcho = 8

// unechoed returns an answer without the texts of the arguments that it repeats.
func unechoed(answer string, arguments json.RawMessage) string {
	var sent func(value any)
	sent = func(value any) {
		switch value := value.(type) {
		case string:
			if quoted, err := json.Marshal(value); err == nil && len(value) >= leastEcho {
				answer = strings.ReplaceAll(strings.ReplaceAll(answer, value, ""), string(quoted[1:len(quoted)-1]), "")
			}
		case []any:
			for _, each := range value {
				sent(each)
			}
		case map[string]any:
			for _, each := range value {
				sent(each)
			}
		}
	}
	sent(inputs.Decode(arguments))
	return answer
}

// listRepeatedly asks for the lists again and again, until one differs from the first. Before that, the client says that
// its roots have changed, because that may change a server's lists as well.
func (s *session) listRepeatedly(ctx context.Context, often int, end time.Time) (is Later, differs bool) {
	s.begin("tools/list", report.PhaseList, server)
	s.enduring.Store(true)
	if !s.options.Incapable && !s.wire.stateless() && s.notify("notifications/roots/list_changed", nil) != nil {
		return Later{}, false
	}
	for n := 0; n < often && (n == 0 || time.Now().Before(end)); n++ {
		is, ok, err := s.listAgain(ctx)
		if err != nil || !ok {
			return Later{}, false
		}
		if !is.Drift.Empty() {
			return is, true
		}
	}
	return Later{}, false
}

// begin reports the next request to Options.Progress.
func (s *session) begin(method string, phase report.Phase, of report.Capability) {
	if s.options.Progress != nil {
		s.options.Progress(method, phase, of)
	}
}

// WithoutDigits returns the kept beginning of a text without its digits, so that texts that differ only in counts
// and measures are equal.
func WithoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, beginning(text, maxOutput))
}
