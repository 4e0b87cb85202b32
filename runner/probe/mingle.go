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
	inTurns   = 3
	maxAtOnce = 12
	mostCalls = 4
)

// mingle calls pairs of targets by turns in random order, and then each target several
// times at once, as agents do: a server may react to an order, or to concurrent calls. In turns, it waits
// until the server is quiet, so that late effects belong to their target.
func (s *session) mingle(ctx context.Context, all []*target, most time.Duration) {
	s.enduring.Store(false)
	end := time.Now().Add(most)
	ctx, cancel := context.WithDeadline(ctx, end.Add(slowRepeat))
	defer cancel()
	if s.awaitQuiet(ctx) == nil && s.byTurns(ctx, all, end) == nil {
		s.severally(ctx, all, end)
	}
}

// byTurns calls pairs by turns.
func (s *session) byTurns(ctx context.Context, all []*target, end time.Time) error {
	for _, pair := range pairs(s.draw(), len(all)) {
		known := map[string]bool{}
		for turn := range inTurns {
			for _, i := range pair {
				if !time.Now().Before(end) {
					return nil
				}
				c := s.repeated(all[i])
				s.used.add(all[i].of, c.Arguments, nil)
				if turn > 0 { // what one tool has stored may change what the other does
					c = s.other(all[i], c, turn*inputs.LongText)
				}
				got, err := s.call(ctx, all[i], c)
				if err != nil {
					return err
				}
				s.keep(got, c, known)
			}
		}
	}
	return nil
}

// severally calls each of some targets several times at once. Over HTTP every request has a
// connection of its own, and none waits for another.
func (s *session) severally(ctx context.Context, all []*target, end time.Time) {
	for i, at := range s.draw().Perm(len(all)) {
		if i >= maxAtOnce || s.wire.conn.HTTP != nil || !time.Now().Before(end) || s.atOnce(ctx, all[at], 2+i%(mostCalls-1)) != nil {
			return
		}
	}
}

// draw makes what is drawn in a session.
func (s *session) draw() *rand.Rand { return rand.New(rand.NewPCG(uint64(s.options.Seed), 0)) }

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

// atOnce makes so many calls without waiting for an answer but the last: one exchange of the ledger, which begins
// with the first. The others get the answer that the same call got before.
func (s *session) atOnce(ctx context.Context, t *target, calls int) error {
	first, exchange := int64(0), len(s.result.Ledger)
	for i := range calls - 1 {
		c := s.repeated(t)
		s.begin(methods[t.of.Kind], report.PhaseCall, t.of)
		s.used.add(t.of, c.Arguments, nil)
		s.lastID++
		s.id = nextID(s.id)
		start, err := s.wire.beside(s.id, map[string]any{
			"jsonrpc": "2.0", "id": s.id, "method": methods[t.of.Kind], "params": s.withMeta(params(t, c)),
		})
		if err != nil {
			return err
		}
		if i == 0 {
			first = start
		}
	}
	_, err := s.call(ctx, t, inputs.Case{Arguments: t.again.Arguments, Shape: t.again.Shape})
	if exchange < len(s.result.Ledger) {
		s.result.Ledger[exchange].SentStart = first
	}
	return err
}
