package probe

import (
	"context"
	"errors"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// maxGivenUp bounds the targets of which a call is cancelled; pings is the number of pings.
const (
	maxGivenUp = 3
	pings      = 3
)

// interrupt does what happens in long sessions: it cancels calls, pings the server, and announces other roots. It calls
// everything again after that, and lists at the end, because a server may act only then.
func (s *session) interrupt(ctx context.Context, all []*target) {
	all = all[:min(len(all), maxAtOnce)]
	for _, t := range all[:min(len(all), maxGivenUp)] {
		if s.giveUp(ctx, t) != nil {
			return
		}
	}
	if s.ping(ctx) != nil || s.rootsChanged(ctx) != nil {
		return
	}
	for _, t := range all {
		if s.callOnce(ctx, t) != nil {
			return
		}
	}
	if is, ok, err := s.listAgain(ctx); err == nil && ok && !is.Drift.Empty() && s.result.Drift.Empty() {
		s.result.Later = is
	}
}

// callOnce repeats the call of a target.
func (s *session) callOnce(ctx context.Context, t *target) error {
	c := s.repeated(t)
	s.begin(methods[t.of.Kind], report.PhaseCall, t.of)
	s.used.add(t.of, c.Arguments, nil)
	got, err := s.call(ctx, t, c)
	if err == nil {
		s.keep(got, c, map[string]bool{})
	}
	return err
}

// giveUp cancels a call as soon as it is sent, and repeats it, as one exchange of the ledger. Over HTTP, where the call
// would need another connection, it cancels the previous one, which was answered: servers must expect that
// (specification 2025-11-25, basic/utilities/cancellation).
func (s *session) giveUp(ctx context.Context, t *target) error {
	first, exchange := int64(0), len(s.result.Ledger)
	if s.wire.conn.HTTP == nil {
		start, err := s.aside(t)
		if err != nil {
			return err
		}
		first = start
	}
	if err := s.notify(methodCancelled, map[string]any{"requestId": s.id, "reason": "the user stopped it"}); err != nil {
		return err
	}
	if err := s.awaitQuiet(ctx); err != nil {
		return err
	}
	err := s.callOnce(ctx, t)
	if exchange < len(s.result.Ledger) && s.wire.conn.HTTP == nil {
		s.result.Ledger[exchange].SentStart = first
	}
	return err
}

// ping pings the server; the stateless revision has no such request.
func (s *session) ping(ctx context.Context) error {
	for range pings {
		if s.options.Discover {
			break
		}
		_, err := s.ask(ctx, query{phase: report.PhaseCall, of: server, method: "ping", limit: slowRepeat, lenient: true})
		if fatal(err) || errors.Is(err, errTimeout) {
			return onlyFatal(err)
		}
	}
	return nil
}

// rootsChanged announces other roots, if the client has any.
func (s *session) rootsChanged(ctx context.Context) error {
	if s.options.Incapable || s.options.Discover {
		return nil
	}
	if err := s.notify("notifications/roots/list_changed", nil); err != nil {
		return err
	}
	return s.awaitQuiet(ctx)
}
