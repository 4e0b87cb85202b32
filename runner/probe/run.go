package probe

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// maxRelists is how often the lists are asked once more because what is new in
// them was called.
const maxRelists = 3

// Run holds one session. When the deadline of ctx passes, the session ends
// where it is, with Incomplete set; only when ctx is cancelled is that an
// error. The result is valid either way. Run always closes stdin.
func Run(ctx context.Context, conn Conn, options Options) (Result, error) {
	s := newSession(conn, options)
	s.converse(ctx)
	s.account()
	s.finish(ctx)
	s.result.Pollution = s.located(s.wire.polluted())
	s.result.Breaches = s.wire.watch.Located(s.result.Ledger)
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return s.result, err
	}
	return s.result, nil
}

// converse holds the session up to the idle time. It ends early when the
// server is gone or the time is up, which request has then entered.
func (s *session) converse(ctx context.Context) {
	advertised, ok := s.handshake(ctx)
	if !ok {
		return
	}
	s.advertised = advertised
	if s.list(ctx) != nil {
		return
	}
	if s.result.Listed {
		s.inspect(s.result.Manifest)
	}
	s.enlist(s.result.Manifest)
	if !s.options.ListOnly && s.callAll(ctx) != nil {
		return
	}
	_ = s.pause(ctx, s.options.Idle)
}

// callAll calls everything, and lists it once more. The error is one that ends the
// session.
func (s *session) callAll(ctx context.Context) error {
	s.budget = newBudget(ctx, s.options.Idle)
	if s.options.Calls != report.CallsNever {
		if err := s.exerciseAll(ctx); err != nil {
			return err
		}
	}
	if !s.result.Listed {
		return nil
	}
	return s.relist(ctx)
}

// exerciseAll calls everything that was listed.
func (s *session) exerciseAll(ctx context.Context) error {
	if err := s.listen(ctx); err != nil {
		return err
	}
	if err := s.setLevel(ctx); err != nil {
		return err
	}
	if err := s.complete(ctx, s.targets); err != nil {
		return err
	}
	held, err := s.subscribe(ctx)
	if err != nil {
		return err
	}
	if err := s.exercise(ctx); err != nil {
		return err
	}
	return s.unsubscribe(ctx, held)
}

// relist lists everything once more, and calls what is new, until there is nothing.
func (s *session) relist(ctx context.Context) error {
	before := s.result.Manifest.Report()
	for range maxRelists {
		s.takeAnnounced()
		after, whole, err := s.lists(ctx)
		if err != nil || !whole {
			return err
		}
		s.takeAnnounced()
		after.ServerName, after.Instructions, after.Capabilities = // those of the session
			s.result.Manifest.ServerName, s.result.Manifest.Instructions, s.result.Manifest.Capabilities
		s.result.After, s.result.Relisted = after, true
		s.compare(before, after.Report())
		known := len(s.targets)
		if s.enlist(after) == 0 {
			return nil
		}
		fresh := s.targets[known:]
		if err := s.complete(ctx, fresh); err != nil {
			return err
		}
		if err := s.round(ctx, s.options.Rounds, fresh); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) takeAnnounced() { maps.Copy(s.announced, s.wire.takeChanged()) }

// compare enters how the lists differ. It was announced when that of every kind
// that differs was. Resources are left out: they are a server's data, which calls
// are there to change.
func (s *session) compare(before, after report.Manifest) {
	s.result.Drift, s.result.Announced = report.Drift{}, len(s.announced) > 0
	for _, k := range kinds {
		if k.of == report.CapabilityResource {
			continue
		}
		d := report.Diff(only(k.of, before), only(k.of, after))
		if !d.Empty() {
			s.result.Announced = s.result.Announced && s.announced[k.changed]
		}
		s.result.Drift.Added = append(s.result.Drift.Added, d.Added...)
		s.result.Drift.Removed = append(s.result.Drift.Removed, d.Removed...)
		s.result.Drift.Changed = append(s.result.Drift.Changed, d.Changed...)
	}
}

// only is the part of a manifest that is of one kind.
func only(kind report.CapabilityKind, m report.Manifest) report.Manifest {
	switch kind {
	case report.CapabilityTool:
		return report.Manifest{Tools: m.Tools}
	case report.CapabilityResourceTemplate:
		return report.Manifest{ResourceTemplates: m.ResourceTemplates}
	default:
		return report.Manifest{Prompts: m.Prompts}
	}
}

// finish closes stdin and sees the server off.
func (s *session) finish(ctx context.Context) {
	s.wire.close()
	timer := time.NewTimer(s.options.Grace)
	defer timer.Stop()
	select {
	case <-s.wire.conn.Exited:
	case <-s.wire.parted():
	case <-ctx.Done():
		s.result.Lingered = s.wire.conn.HTTP == nil
	case <-timer.C:
		s.result.Lingered = s.wire.conn.HTTP == nil
	}
	s.wire.abort() // a server that reads nothing keeps the writer waiting
	s.linger(ctx)
}

// located says when the first bad line came.
func (s *session) located(p Pollution) Pollution {
	if p.Lines == 0 {
		return p
	}
	p.Phase, p.Capability = report.PhaseShutdown, server
	for _, e := range s.result.Ledger {
		if e.Received == 0 || p.end <= e.Received {
			p.Phase, p.Capability = e.Phase, e.Capability
			break
		}
	}
	return p
}
