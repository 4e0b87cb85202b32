// Package ledger records the conversation between probe and server in byte offsets, and determines which part of it
// an event of the trace belongs to.
//
// The probe writes it, the profile reads it. It is pure. The runner counts offsets on its side of the pipes (or
// connections), and the trace on the server's, so no content has to be compared. Clocks, which runner and tracer
// share, only distinguish what came soon after a response from what came late.
package ledger

import (
	"sort"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Exchange is one request and its response. Requests are sent one at a time, except concurrent calls of the same
// capability, which are one exchange. Everything else that the runner sends (notifications, answers to sampling,
// roots and elicitation) counts in the stdin offset and belongs to the exchange in flight, or to the last one.
type Exchange struct {
	// Phase is PhaseHandshake, PhaseList or PhaseCall.
	Phase report.Phase
	// Capability that was called; of kind Server for handshake and list.
	Capability report.Capability
	// Method of the request, such as "tools/call".
	Method string
	// SentStart and SentEnd are the request's half-open range of bytes in the stdin pipe, counted from the first byte
	// that the runner wrote.
	SentStart, SentEnd int64
	// Sent is when the runner had written the request.
	Sent time.Time
	// Received is the number of bytes read from the stdout pipe when the response was complete, including its
	// newline; 0 if it is unanswered.
	Received int64
	// Settled is when the runner stopped waiting for effects after the response; zero if it did not wait.
	Settled time.Time
	// StillBusy is set if the server was still active at that time, or had a timer, so that its effects during the
	// next exchange may belong to this one.
	StillBusy bool
	// Repeat is set if the previous request was a call with the same arguments that was accepted.
	Repeat bool
	// Due is the time before which a StillBusy server is idle; zero if it may act at once.
	Due time.Time
}

// Ledger is a session's exchanges in the order of sending: SentStart is strictly ascending.
type Ledger []Exchange

// Moment holds what an event says about its part of the session. It is comparable.
type Moment struct {
	// At is the position in the conversation when the call was entered, and Time when that was.
	At   trace.Position
	Time time.Time
	// Origins are the positions when the process and its ancestors were started, the oldest first; zero if there is
	// none. Thread is the same for the thread.
	Origins [trace.MaxOrigins]trace.Position
	Thread  trace.Position
	// Fed is the position when the process last read from another process.
	Fed trace.Position
}

// MomentOf returns the moment of an event.
func MomentOf(e trace.Event) Moment {
	m := Moment{At: e.At, Time: e.Time, Thread: e.Thread, Fed: e.Fed}
	copy(m.Origins[:], e.Origins)
	return m
}

// Where is a place in the session.
type Where struct {
	Phase       report.Phase
	Capability  report.Capability
	Attribution report.Attribution
	// AlternativeCause is another possible cause: with AttributionOverlap the earlier call, with
	// AttributionBackground the preceding one. Otherwise it is zero unless the server was still busy; of kind Server
	// if it was busy before any call.
	AlternativeCause report.Capability
	// Repeat is set if the exchange repeats an accepted call.
	Repeat bool
}

// Late reports whether a call may have done this after it was answered.
func (w Where) Late() bool {
	switch w.Attribution {
	case report.AttributionAfter, report.AttributionSettle:
		return w.Phase == report.PhaseCall
	case report.AttributionLineage, report.AttributionBackground:
		return true
	}
	return false
}

// Note describes for people by which rule an event was attributed to a call, if that is more than its position; ""
// otherwise.
func (w Where) Note() string {
	switch w.Attribution {
	case report.AttributionLineage:
		return "by a process that was started during a call of " + w.Capability.String() + w.or()
	case report.AttributionOverlap:
		return strings.TrimPrefix(w.or(), ", ")
	case report.AttributionSettle, report.AttributionAfter:
		if w.Phase != report.PhaseCall {
			return "after the response to the server's " + strings.ToLower(string(w.Phase)) + w.or()
		}
		return "after the response of " + w.Capability.String() + w.or()
	case report.AttributionBackground:
		return "background after a call of " + w.AlternativeCause.String()
	}
	return ""
}

// or names the alternative cause.
func (w Where) or() string {
	switch w.AlternativeCause.Kind {
	case "":
		return ""
	case report.CapabilityServer:
		return ", or by what the server had set going before any call"
	}
	return ", or left over from a call of " + w.AlternativeCause.String()
}

// Of returns the part of the session that an event belongs to: see At.
func (l Ledger) Of(e trace.Event) Where { return l.At(MomentOf(e)) }

// At returns the part of the session that a moment belongs to, by the first rule that applies:
//
//   - A call started the process or one of its ancestors: the call of the oldest one, by
//     Lineage, unless it is still in flight. If a later call has given the process work,
//     that call: by Overlap while it is in flight, else by AfterResponse, with the call that
//     started the process as alternative.
//   - The server has read the beginning of a request and not completely answered it: that
//     request. By Overlap, with an earlier call as alternative, if that call started the
//     thread, left the server restless, or was never answered.
//   - The response was written and the settle time was not over: that request, by
//     Settle. The next request was not yet read: that request, by AfterResponse.
//   - Nothing of the first request was read: Startup. The end of stdin was read: Shutdown.
//   - The last response was written: Idle. By Background, with the last call, or the call
//     that started the thread, as alternative.
//
// A request that was never answered stays in flight until the next one is read. A written
// response counts its request as read: a server gains nothing by guessing the request, or
// by seeing it without reading (tee(2)).
func (l Ledger) At(m Moment) Where {
	current, stage := l.locate(m.At)
	from := l.lineage(m)
	if fed := l.call(m.Fed); from >= 0 && fed > from {
		return l.worker(from, fed, fed == current && stage == inFlight)
	}
	if from >= 0 && !(from == current && stage == inFlight) {
		where := Where{Phase: report.PhaseCall, Capability: l[from].Capability, Attribution: report.AttributionLineage}
		return l.withAlternativeCause(where, from, l.unfinished(from, never)) // its start is unknown
	}
	switch stage {
	case before:
		return server(report.PhaseStartup)
	case over:
		return server(report.PhaseShutdown)
	case inFlight:
		return l.flight(current, m)
	}
	e := l[current]
	where := Where{Phase: e.Phase, Capability: e.Capability, Attribution: report.AttributionAfter, Repeat: e.Repeat}
	switch {
	case !e.Settled.IsZero() && !m.Time.After(e.Settled):
		where.Attribution = report.AttributionSettle
	case current == len(l)-1:
		where = server(report.PhaseIdle)
		if behind := l.behind(current, m); behind >= 0 {
			where.Attribution, where.AlternativeCause = report.AttributionBackground, l[behind].Capability
		}
		return where
	}
	return l.withAlternativeCause(where, current, l.unfinished(current, m.Time))
}

// worker returns the place of work by a process that one call started, and another gave work.
func (l Ledger) worker(started, fed int, flying bool) Where {
	where := Where{Phase: report.PhaseCall, Capability: l[fed].Capability, Attribution: report.AttributionAfter}
	if where = l.withAlternativeCause(where, fed, started); flying {
		where.Attribution = report.AttributionOverlap
	}
	return where
}

// stage is the state of an exchange.
type stage int

const (
	before   stage = iota // before the first
	inFlight              // read, but not completely answered
	answered
	over // stdin has ended
)

// locate finds the exchange of a position.
func (l Ledger) locate(p trace.Position) (current int, at stage) {
	if p.EOF {
		return len(l) - 1, over
	}
	// The first exchange of which the server had read nothing.
	next := sort.Search(len(l), func(i int) bool { return l[i].SentStart >= p.In })
	for i := next; i < len(l) && l[i].Received <= p.Out; i++ { // Received is ascending where it is known
		if l[i].Received != 0 {
			next = i + 1
		}
	}
	if next == 0 {
		return -1, before
	}
	if e := l[next-1]; e.Received == 0 || p.Out < e.Received {
		return next - 1, inFlight
	}
	return next - 1, answered
}

// lineage returns the call that started the process; -1 for none.
func (l Ledger) lineage(m Moment) int {
	for _, origin := range m.Origins {
		if i := l.call(origin); i >= 0 {
			return i
		}
	}
	return -1
}

// call returns the call that was in flight at a position, or just answered, but not one that settled long ago, which
// the position alone does not show. -1 for none.
func (l Ledger) call(p trace.Position) int {
	if p == (trace.Position{}) {
		return -1
	}
	i, at := l.locate(p)
	if (at == inFlight || at == answered && i < len(l)-1) && l[i].Phase == report.PhaseCall {
		return i
	}
	return -1
}

// flight returns the place of what happens during an exchange.
func (l Ledger) flight(current int, m Moment) Where {
	e := l[current]
	where := Where{Phase: e.Phase, Capability: e.Capability, Attribution: report.AttributionInFlight, Repeat: e.Repeat}
	earlier := l.call(m.Thread)
	if earlier < 0 {
		earlier = l.unfinished(current, m.Time)
	}
	if where = l.withAlternativeCause(where, current, earlier); where.AlternativeCause != (report.Capability{}) {
		where.Attribution = report.AttributionOverlap
	}
	return where
}

// never is later than all times in a ledger.
var never = time.Unix(1<<40, 0)

// unfinished returns an earlier exchange that may still be active at a time: one that was never answered, or else the
// first since which the server has been restless without a break, if its timer was due. -1 for none.
func (l Ledger) unfinished(current int, at time.Time) int {
	for i := current - 1; i >= 0; i-- {
		if l[i].Phase == report.PhaseCall && l[i].Received == 0 {
			return i
		}
	}
	if current > 0 && at.Before(l[current-1].Due) {
		return -1
	}
	first := current
	for first > 0 && l[first-1].StillBusy {
		first--
	}
	if first == current {
		return -1
	}
	return first
}

// withAlternativeCause adds the exchange that may be the cause instead, unless that makes no difference.
func (l Ledger) withAlternativeCause(where Where, current, earlier int) Where {
	if earlier >= 0 && earlier < current && l[earlier].Capability != where.Capability {
		where.AlternativeCause = l[earlier].Capability
	}
	return where
}

// behind returns the call that preceded work in the background; -1 for none.
func (l Ledger) behind(current int, m Moment) int {
	if i := l.call(m.Thread); i >= 0 {
		return i
	}
	if i := l.unfinished(current+1, m.Time); i >= 0 && l[i].Phase == report.PhaseCall {
		return i
	}
	for i := current; i >= 0; i-- {
		if l[i].Phase == report.PhaseCall {
			return i
		}
	}
	return -1
}

func server(phase report.Phase) Where {
	return Where{Phase: phase, Capability: report.Capability{Kind: report.CapabilityServer}, Attribution: report.AttributionPhase}
}
