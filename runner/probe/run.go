package probe

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// maxRelists bounds the repetition of the lists after new capabilities were called.
const maxRelists = 3

// Run holds one session. When the deadline of ctx passes, the session ends
// where it is, with Incomplete set; it returns an error only when ctx is
// cancelled. The result is valid either way. Run always closes stdin.
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

// converse runs the session up to the idle time. It ends early when the
// server is gone or the time is up, which Result.Incomplete then says.
func (s *session) converse(ctx context.Context) {
	advertised, ok := s.handshake(ctx)
	if !ok {
		return
	}
	s.advertised = advertised
	if s.options.GreetOnly || s.list(ctx) != nil {
		return
	}
	if s.options.Wait > 0 && (s.pause(ctx, s.options.Wait) != nil || s.list(ctx) != nil) {
		return
	}
	if s.result.Listed {
		s.inspect(s.result.Manifest)
	}
	s.budget = newBudget(ctx, s.options.Idle, s.kept())
	s.enlist(s.result.Manifest)
	if !s.options.ListOnly && !s.result.Manifest.TooLong() && (s.callAll(ctx) != nil || s.listUnadvertised(ctx) != nil) {
		return
	}
	_ = s.pause(ctx, s.options.Idle)
}

// callAll calls everything, and lists it once more. The error is one that ends the
// session.
func (s *session) callAll(ctx context.Context) error {
	if s.options.Calls != report.CallsNever {
		if err := s.exerciseAll(ctx); err != nil {
			return err
		}
	}
	if !s.result.Listed {
		return nil
	}
	err := s.relist(ctx)
	s.recall()
	if err == nil {
		s.endure(ctx)
	}
	return err
}

// exerciseAll calls everything that was listed.
func (s *session) exerciseAll(ctx context.Context) error {
	if err := s.listen(ctx); err != nil {
		return err
	}
	if err := s.setLevel(ctx, completeLog); err != nil {
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
	if err := s.attack(ctx); err != nil {
		return err
	}
	return s.unsubscribe(ctx, held)
}

// relist lists everything once more, and calls what is new, until there is nothing.
func (s *session) relist(ctx context.Context) error {
	for range maxRelists {
		later, ok, err := s.listAgain(ctx)
		if err != nil || !ok {
			return err
		}
		s.result.Later = later
		if called, err := s.callNew(ctx, later.After); err != nil || called == 0 {
			return err
		}
	}
	return nil
}

// listAgain lists everything once more; not ok when the lists are not whole.
func (s *session) listAgain(ctx context.Context) (is Later, ok bool, err error) {
	s.takeAnnounced()
	after, whole, err := s.lists(ctx)
	if err != nil || !whole {
		return Later{}, false, err
	}
	s.takeAnnounced()
	after.ServerName, after.Instructions, after.Capabilities = // those of the session
		s.result.Manifest.ServerName, s.result.Manifest.Instructions, s.result.Manifest.Capabilities
	is = Later{After: after.Or(s.result.Manifest), Relisted: true}
	s.compare(&is)
	return is, true, nil
}

// callNew calls the new capabilities of a manifest, and returns their number.
func (s *session) callNew(ctx context.Context, m manifest.Manifest) (int, error) {
	known := len(s.targets)
	if s.enlist(m) == 0 {
		return 0, nil
	}
	fresh := s.targets[known:]
	if err := s.complete(ctx, fresh); err != nil {
		return len(fresh), err
	}
	return len(fresh), s.round(ctx, s.options.Rounds, fresh)
}

// maxHeeded bounds the requests for lists between calls.
const maxHeeded = 32

// heed requests the lists when the server announces a change, as clients do, because
// the change may be reverted by the end of the calls.
func (s *session) heed(ctx context.Context) error {
	if s.heeded >= maxHeeded || !s.wire.hasChanged() {
		return nil
	}
	s.heeded++
	return s.look(ctx)
}

// look requests the lists between calls.
func (s *session) look(ctx context.Context) error {
	if !s.result.Listed || !s.hasTime() {
		return nil
	}
	is, ok, err := s.listAgain(ctx)
	if err != nil || !ok {
		return err
	}
	if len(s.meanwhile.Drift.Changed) == 0 {
		s.meanwhile = is
	}
	_, err = s.callNew(ctx, is.After)
	return err
}

// recall restores a change between the calls that was reverted.
func (s *session) recall() {
	if len(s.meanwhile.Drift.Changed) > 0 && len(s.result.Drift.Changed) == 0 {
		s.result.Later = s.meanwhile
	}
}

func (s *session) takeAnnounced() { maps.Copy(s.announced, s.wire.takeChanged()) }

// compare records the differences of the lists, and whether all of them were
// announced. It leaves out resources, which are data that calls may change.
func (s *session) compare(is *Later) {
	before, after := s.result.Manifest.Report(), is.After.Report()
	is.Announced = len(s.announced) > 0
	for _, k := range kinds {
		if k.of == report.CapabilityResource {
			continue
		}
		d := report.DiffByName(only(k.of, before), only(k.of, after))
		if !d.Empty() {
			is.Announced = is.Announced && s.announced[k.changed]
		}
		is.Drift.Added = append(is.Drift.Added, d.Added...)
		is.Drift.Removed = append(is.Drift.Removed, d.Removed...)
		is.Drift.Changed = append(is.Drift.Changed, d.Changed...)
		is.Drift.Changes = append(is.Drift.Changes, d.Changes...)
	}
}

// only returns the part of a manifest of one kind.
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

// finish terminates the server if that is configured, closes its stdin, and waits for its end.
func (s *session) finish(ctx context.Context) {
	if s.wire.conn.Terminate != nil {
		s.wire.watch.closed()
		s.wire.conn.Terminate()
	}
	s.wire.close()
	select {
	case <-s.wire.conn.Exited:
	case <-s.wire.parted():
	case <-ctx.Done():
		s.result.Lingered = s.wire.conn.HTTP == nil
	case <-time.After(s.options.Grace):
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
