package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/transport"
)

var (
	// errTimeout: no answer in time; the session goes on.
	errTimeout = errors.New("no answer in time")
	// errGone: the server has ended, or its stdout has; the session cannot go on.
	errGone = errors.New("the server is gone")
)

// server is the capability of requests that belong to none.
var server = report.Capability{Kind: report.CapabilityServer}

// session is one conversation and what it has shown so far.
type session struct {
	options  Options
	began    time.Time
	wire     *wire
	result   Result
	lastID   int           // how many requests were sent
	followed int           // how many calls were made to use what an attempt had stored
	id       int           // that of the last, in the conversation
	settled  time.Duration // the sum of all waits after responses

	advertised map[string]json.RawMessage // the server's capabilities
	targets    []*target                  // in the order of the lists
	waiting    int                        // of them, those that are to have their first call
	timeouts   int                        // calls that were not answered in time
	pauses     int                        // that the server asked for
	silent     report.Incomplete          // why the first call without an answer has none
	enduring   atomic.Bool                // the same is asked again and again: nothing waits for silence
	moods      atomic.Int64               // requests of the server meanwhile
	known      map[report.Capability]bool // those that are targets
	skip       map[string]bool            // Options.Skip
	tools      map[string]bool            // the names of those that are or were listed
	pool       *inputs.Pool
	ways       inputs.Ways
	outputs    *outputs
	used       *arguments
	budget     budget
	tally      report.Share
	announced  map[string]bool // the list_changed notifications since the first lists
	heeded     int             // how many of them the lists were asked for between calls
	meanwhile  Later           // what these have shown
	blames     int             // how many refused lists were requested once more
}

func newSession(conn Conn, o Options) *session {
	s := &session{
		options: o.withDefaults(), began: time.Now(), known: map[report.Capability]bool{}, skip: map[string]bool{}, tools: map[string]bool{},
		pool: inputs.NewPool(), outputs: newOutputs(), used: newArguments(), announced: map[string]bool{},
	}
	s.pool.Refuse = o.Refuse
	for _, name := range o.Skip {
		s.skip[name] = true
	}
	s.wire = newWire(conn, func(m message) any {
		s.outputs.add(report.OutputRequest, m.method, said(m.params))
		return answerRequest(m, s.answer)
	}, func(m message) {
		s.outputs.add(report.OutputNotification, m.method, said(m.params))
	})
	return s
}

// query is one request.
type query struct {
	phase  report.Phase
	of     report.Capability
	method string
	params map[string]any
	// arguments are those of a call.
	arguments inputs.Case
	// limit bounds the time for the answer. lenient: its end is not a failure of the session.
	limit   time.Duration
	lenient bool
	// aside are the headers of a request that is sent like another client's.
	aside http.Header
	// again marks a call that was accepted before with the same arguments.
	again bool
}

// request sends a request other than a call: see ask.
func (s *session) request(
	ctx context.Context, phase report.Phase, of report.Capability, method string, params map[string]any,
) (json.RawMessage, error) {
	limit := s.longestRequest()
	if phase == report.PhaseHandshake {
		limit = s.options.Handshake
	}
	return s.ask(ctx, query{phase: phase, of: of, method: method, params: params, limit: limit})
}

// longestRequest bounds requests other than calls: a launch with little time for calls still needs its lists.
func (s *session) longestRequest() time.Duration {
	return max(s.options.CallTimeout, plan.DefaultCallTimeout)
}

// ask sends one request and waits for its response and for the silence after it.
// Errors: *rpcError, errTimeout, errTooLong, errGone, *transport.Error,
// transport.ErrBacklog and those of ctx, all but the first two also entered as Incomplete.
func (s *session) ask(ctx context.Context, q query) (json.RawMessage, error) {
	if !s.enduring.Load() {
		s.begin(q.method, q.phase, q.of)
	}
	s.lastID++
	s.id = nextID(s.id)
	s.outputs.begin(q, s.lastID)
	response := s.wire.expect(s.id)
	start, end, err := s.wire.sendAs(q.aside, map[string]any{
		"jsonrpc": "2.0", "id": s.id, "method": q.method, "params": s.withProgress(q, s.withMeta(q.params)),
	})
	if err != nil {
		s.fail(report.ReasonTimeout, "%s: %v", label(q.method, q.of), err)
		return nil, err
	}
	s.result.Ledger = append(s.result.Ledger, ledger.Exchange{
		Phase: q.phase, Capability: q.of, Method: q.method, SentStart: start, SentEnd: end, Sent: time.Now(), Repeat: q.again,
	})
	got := s.await(ctx, response, q.limit)
	if got.err != nil {
		if failed := (*transport.Error)(nil); errors.As(got.err, &failed) {
			s.result.Ledger[len(s.result.Ledger)-1].Received = got.end // by HTTP it may have been answered
		}
		s.unanswered(q, got.err)
		return nil, got.err
	}
	s.result.Ledger[len(s.result.Ledger)-1].Received = got.end
	if err := s.awaitQuiet(ctx); err != nil {
		return nil, err
	}
	if got.message.err != nil {
		return nil, got.message.err
	}
	return got.message.result, nil
}

// withProgress asks for notifications about the progress of a call (specification
// 2025-11-25, basic/utilities/progress), and adds the members of Options.Meta.
func (s *session) withProgress(q query, params map[string]any) map[string]any {
	if q.phase != report.PhaseCall {
		return params
	}
	meta := map[string]any{"progressToken": s.id}
	for _, m := range s.options.Meta {
		meta[m.Key] = m.value(s.options.Seed, s.lastID)
	}
	if all, has := params["_meta"].(map[string]any); has {
		maps.Copy(meta, all)
	}
	with := maps.Clone(params)
	with["_meta"] = meta
	return with
}

// await waits for a response. After the end of the server's main process, it still
// waits for output on its way.
func (s *session) await(ctx context.Context, response <-chan received, limit time.Duration) received {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	exited, expiry := s.wire.conn.Exited, errTimeout
	for {
		select {
		case got := <-response:
			return got
		case <-s.wire.ended:
			select {
			case got := <-response: // came just before the end
				return got
			default:
				return received{err: errGone}
			}
		case <-exited:
			exited, expiry = nil, errGone
			timer.Reset(s.options.Grace)
		case <-timer.C:
			return received{err: expiry}
		case <-ctx.Done():
			return received{err: ctx.Err()}
		}
	}
}

// unanswered records why a request has no response. A single call without one does not make the session
// incomplete; see reportUncalled.
func (s *session) unanswered(q query, err error) {
	if q.phase == report.PhaseCall && !fatal(err) {
		s.silent = cmp.Or(s.silent, s.silence(q, err))
	} else {
		s.failed(s.silence(q, err))
	}
	if errors.Is(err, errTimeout) && q.method != methodInitialize {
		s.wire.watch.answers.GivenUp(strconv.Itoa(s.id))
		_ = s.notify("notifications/cancelled", map[string]any{"requestId": s.id, "reason": "timeout"})
	}
}

// silence returns why a request has no response; the zero value if the session needs none.
func (s *session) silence(q query, err error) report.Incomplete {
	what := label(q.method, q.of)
	instead := s.wire.insteadOf()
	var failed *transport.Error
	switch {
	case errors.Is(err, errGone) && s.exited():
		return incomplete(report.ReasonServerExited, "the server exited before it answered %s", what)
	case errors.Is(err, errGone):
		return incomplete(report.ReasonProtocolError, "the server closed its %s before it answered %s", s.wire.outlet(), what)
	case errors.As(err, &failed):
		return incomplete(report.ReasonProtocolError, "no answer to %s: %v", what, failed)
	case errors.Is(err, errTooLong):
		return incomplete(report.ReasonProtocolError, "no answer to %s: %v", what, err)
	case instead != "" && !errors.Is(err, context.Canceled):
		return incomplete(report.ReasonProtocolError, "no answer to %s; instead the server wrote %q to its stdout", what, instead)
	case errors.Is(err, errTimeout) && q.lenient:
		return report.Incomplete{}
	case errors.Is(err, errTimeout):
		return incomplete(report.ReasonTimeout, "no answer to %s within %s", what, q.limit.Round(time.Millisecond))
	}
	return outOfTime(fmt.Sprintf("while the server had not answered %s", what))
}

// exited waits a little for the end of the main process, which follows that of
// stdout when the server has ended.
func (s *session) exited() bool {
	select {
	case <-s.wire.conn.Exited:
		return true
	case <-time.After(s.options.Grace):
		return false
	}
}

// notify sends a notification. It is part of no exchange.
func (s *session) notify(method string, params map[string]any) error {
	notification := map[string]any{"jsonrpc": "2.0", "method": method}
	if params = s.withMeta(params); len(params) > 0 {
		notification["params"] = params
	}
	_, _, err := s.wire.send(notification)
	return err
}

func (s *session) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		s.failed(outOfTime("before the session was at its end"))
		return ctx.Err()
	}
}

func outOfTime(when string) report.Incomplete {
	return incomplete(report.ReasonTimeout, "the audit ran out of time %s", when)
}

func incomplete(reason report.Reason, format string, args ...any) report.Incomplete {
	return report.Incomplete{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// failed records why the session is incomplete, and keeps the first reason.
func (s *session) failed(why report.Incomplete) {
	s.result.Incomplete = cmp.Or(s.result.Incomplete, why)
}

func (s *session) fail(reason report.Reason, format string, args ...any) {
	s.failed(incomplete(reason, format, args...))
}

// fatal reports whether the session cannot go on after an error of request.
func fatal(err error) bool {
	var refused *rpcError
	var failed *transport.Error
	if errors.As(err, &failed) {
		return failed.Gone
	}
	return err != nil && !errors.Is(err, errTimeout) && !errors.Is(err, errTooLong) && !errors.As(err, &refused)
}

// label names a request: "initialize", "tools/call of tool format_note".
func label(method string, of report.Capability) string {
	if of.Kind == report.CapabilityServer {
		return method
	}
	return method + " of " + of.String()
}
