package probe

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// maxRounds is how often tools that appear after the calls are called, too.
const maxRounds = 3

// Run holds one session. When the deadline of ctx passes, the session ends
// where it is, with Incomplete set; only when ctx is cancelled is that an
// error. The result is valid either way. Run always closes stdin.
func Run(ctx context.Context, conn Conn, options Options) (Result, error) {
	s := &session{options: options.withDefaults()}
	s.wire = newWire(conn, func(m message) any { return answerRequest(m, s.options.Inputs) })
	s.converse(ctx)
	s.finish(ctx)
	s.result.Pollution = s.located(s.wire.polluted())
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
	if s.list(ctx, advertised) != nil {
		return
	}
	called := map[string]bool{}
	for _, k := range kinds {
		done := map[string]bool{}
		if k.of == report.CapabilityTool {
			done = called
		}
		if s.exercise(ctx, k.of, *k.into(&s.result.Manifest), done) != nil {
			return
		}
	}
	if _, has := advertised["tools"]; has && s.result.Listed && s.relist(ctx, called) != nil {
		return
	}
	_ = s.pause(ctx, s.options.Idle)
}

// relist lists the tools once more, and calls those that are new, until there
// are none.
func (s *session) relist(ctx context.Context, called map[string]bool) error {
	before := s.result.Manifest
	for range maxRounds {
		s.result.Announced = s.wire.takeChanged()[toolsChanged] || s.result.Announced
		tools, whole, err := s.pages(ctx, kinds[0])
		if err != nil || !whole {
			return err
		}
		s.result.Announced = s.wire.takeChanged()[toolsChanged] || s.result.Announced
		after := before
		after.Tools = tools
		s.result.Drift = report.Diff(before.Report(), after.Report())
		if !appeared(tools, called) {
			return nil
		}
		if err := s.exercise(ctx, report.CapabilityTool, tools, called); err != nil {
			return err
		}
	}
	return nil
}

// appeared tells whether one of the tools has not been called.
func appeared(tools []json.RawMessage, called map[string]bool) bool {
	return slices.ContainsFunc(manifest.Items(report.CapabilityTool, tools), func(tool manifest.Item) bool {
		return tool.Name != "" && !called[tool.Name]
	})
}

// finish closes stdin and sees the server off.
func (s *session) finish(ctx context.Context) {
	s.wire.close()
	timer := time.NewTimer(s.options.Grace)
	defer timer.Stop()
	select {
	case <-s.wire.conn.Exited:
	case <-ctx.Done():
		s.result.Lingered = true
	case <-timer.C:
		s.result.Lingered = true
	}
	// A server that reads nothing keeps the writer waiting: end that.
	_ = s.wire.conn.Stdin.Close()
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
