package probe

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// The bounds of what is called in turns and at once: of pairs of targets, how often each of a
// pair, of targets that are called several times at once, and of these calls.
const (
	maxPairs  = 12
	inTurns   = 4
	maxAtOnce = 12
	mostCalls = 4
)

// mingle calls targets by turns, two by two in an order that is drawn, and then each of them several
// times at once, as agents do: a server may act on an order, or on what is not yet over. In turns each call is waited
// for until the server is quiet, so that what it leaves behind is of its target.
func (s *session) mingle(ctx context.Context, all []*target, end time.Time) error {
	s.enduring = false
	draw := rand.New(rand.NewPCG(uint64(s.options.Seed), uint64(len(all))))
	for _, pair := range pairs(draw, len(all)) {
		for range inTurns {
			for _, i := range pair {
				if !time.Now().Before(end) {
					return nil
				}
				if _, err := s.call(ctx, all[i], s.repeated(all[i])); err != nil {
					return err
				}
			}
		}
	}
	if s.wire.conn.HTTP != nil {
		return nil // there every request has a connection of its own, and none waits for another
	}
	for i, at := range draw.Perm(len(all)) {
		if i >= maxAtOnce || !time.Now().Before(end) {
			break
		}
		if err := s.atOnce(ctx, all[at], 2+i%(mostCalls-1)); err != nil {
			return err
		}
	}
	return nil
}

// pairs are some pairs of n things, in an order that is drawn.
func pairs(draw *rand.Rand, n int) (all [][2]int) {
	for i := range n {
		for j := range i {
			all = append(all, [2]int{j, i})
		}
	}
	draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(len(all), maxPairs)]
}

// atOnce makes so many calls without waiting for an answer but the last. What they are answered
// with is what the same call was answered with before.
func (s *session) atOnce(ctx context.Context, t *target, calls int) error {
	for range calls - 1 {
		c := s.repeated(t)
		s.begin(methods[t.of.Kind], report.PhaseCall, t.of)
		s.used.add(t.of, c.Arguments, nil)
		s.lastID++
		s.id = nextID(s.id)
		err := s.wire.beside(s.id, map[string]any{
			"jsonrpc": "2.0", "id": s.id, "method": methods[t.of.Kind], "params": s.withMeta(params(t, c)),
		})
		if err != nil {
			return err
		}
	}
	_, err := s.call(ctx, t, inputs.Case{Arguments: t.again.Arguments, Shape: t.again.Shape})
	return err
}
