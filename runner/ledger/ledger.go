// Package ledger records the conversation that the probe had with the server,
// in byte offsets, and tells which part of it an event of the trace belongs to.
//
// The probe writes it, the profile reads it. It is pure. Offsets are counted
// by the runner on its side of the pipes (or connections) and by the trace on the
// server's, so that no byte of content has to be compared; clocks, which runner
// and tracer share, only tell what came soon after a response from what came late.
package ledger

import (
	"sort"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Exchange is one request and its response. Requests are sent one at a time, but for calls of
// the same capability that are sent at once: these are one exchange.
// What the runner sends besides (notifications, answers to sampling, roots and
// elicitation) counts in the stdin offset and belongs to the exchange in
// flight, or to the last one.
type Exchange struct {
	// Phase is PhaseHandshake, PhaseList or PhaseCall.
	Phase report.Phase
	// Capability was called; Kind Server for handshake and list.
	Capability report.Capability
	// Method of the request, such as "tools/call".
	Method string
	// SentStart and SentEnd are the request's half-open range of bytes in the
	// stdin pipe, counted from the first byte the runner ever wrote there.
	SentStart, SentEnd int64
	// Received is the number of bytes that had come from the stdout pipe when
	// the response was whole, its newline included; 0 while it is unanswered.
	Received int64
	// Settled is when the runner stopped waiting for what the server does after
	// its response; zero when it did not wait.
	Settled time.Time
	// StillBusy: the server was still doing things then, or had a timer set, so that
	// what it does during the next exchange may belong to this one.
	StillBusy bool
	// Repeat: the request before was a call with the same arguments, which was accepted.
	Repeat bool
	// Due is before when a StillBusy server does nothing by itself; zero if it may
	// at once.
	Due time.Time
}

// Ledger is a session's exchanges in the order in which they were sent:
// SentStart strictly ascends.
type Ledger []Exchange

// Moment holds what an event says about the part of the session that it belongs to.
// It can be compared.
type Moment struct {
	// At is where the conversation was when the call was entered, Time when.
	At   trace.Position
	Time time.Time
	// Origins are where it was when the process, and its ancestors, were started,
	// the oldest first; zero where there is none. Thread is the same of the thread.
	Origins [trace.MaxOrigins]trace.Position
	Thread  trace.Position
	// Fed is where it was when the process was last told something by another.
	Fed trace.Position
}

// MomentOf is the moment of an event.
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
	// AlternativeCause is the other that may be the cause: with AttributionOverlap the earlier
	// call, with AttributionBackground the one that it came after. With the others
	// it is zero unless the server was still busy; of Kind Server if it was before any call.
	AlternativeCause report.Capability
	// Repeat: the exchange that it belongs to repeats an accepted call.
	Repeat bool
}

// Late reports whether it is work that a call did when it had been answered, or
// that one may have done.
func (w Where) Late() bool {
	switch w.Attribution {
	case report.AttributionAfter, report.AttributionSettle:
		return w.Phase == report.PhaseCall
	case report.AttributionLineage, report.AttributionBackground:
		return true
	}
	return false
}

// Note says for people by which rule an event was given to a call, where that is
// more than its place in the conversation; "" where it is not.
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

// or says what else may be the cause.
func (w Where) or() string {
	switch w.AlternativeCause.Kind {
	case "":
		return ""
	case report.CapabilityServer:
		return ", or by what the server had set going before any call"
	}
	return ", or left over from a call of " + w.AlternativeCause.String()
}

// Of tells which part of the session an event belongs to: see At.
func (l Ledger) Of(e trace.Event) Where { return l.At(MomentOf(e)) }

// At tells which part of the session a moment belongs to. The first of these
// rules that applies does:
//
//   - The process, or one that it descends from, was started by a call: the call
//     of the oldest such, by Lineage, unless that is still in flight. If a later
//     call has given it work since, that one: by Overlap while it is in flight,
//     else by AfterResponse, with the call that started it behind.
//   - A request is in flight, which was begun to be read and not yet wholly
//     answered: that one. By Overlap, with the other behind it, when an earlier
//     call had started the thread, had left the server restless, or was never answered.
//   - The response was written and the settle time was not over: that request, by
//     Settle; the next request was not yet read: that request, by AfterResponse.
//   - Nothing of the first request was read: Startup. The end of stdin was read:
//     Shutdown.
//   - The last response was written: Idle. By Background, with the last call
//     behind it, or that which had started the thread.
//
// A request that was never answered stays in flight until the next one is read.
// A response that was written counts its request as read: a server that has
// guessed it, or has seen it without reading (tee(2)), gains nothing.
func (l Ledger) At(m Moment) Where {
	current, stage := l.locate(m.At)
	from := l.lineage(m)
	if fed := l.call(m.Fed); from >= 0 && fed > from {
		return l.worker(from, fed, fed == current && stage == inFlight)
	}
	if from >= 0 && !(from == current && stage == inFlight) {
		where := Where{Phase: report.PhaseCall, Capability: l[from].Capability, Attribution: report.AttributionLineage}
		return l.withAlternativeCause(where, from, l.unfinished(from, never)) // when it was started is not known
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

// worker is the place of what a process does that one call has started, and
// another given work.
func (l Ledger) worker(started, fed int, flying bool) Where {
	where := Where{Phase: report.PhaseCall, Capability: l[fed].Capability, Attribution: report.AttributionAfter}
	if where = l.withAlternativeCause(where, fed, started); flying {
		where.Attribution = report.AttributionOverlap
	}
	return where
}

// stage is how far an exchange has come.
type stage int

const (
	before   stage = iota // there is none yet
	inFlight              // read, and not wholly answered
	answered
	over // stdin has ended
)

// locate finds the exchange that a position lies in.
func (l Ledger) locate(p trace.Position) (current int, at stage) {
	if p.EOF {
		return len(l) - 1, over
	}
	// The first exchange that the server had read nothing of.
	next := sort.Search(len(l), func(i int) bool { return l[i].SentStart >= p.In })
	for i := next; i < len(l) && l[i].Received <= p.Out; i++ { // Received ascends where it is known
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

// lineage is the call in which the process was started; -1 when it was none.
func (l Ledger) lineage(m Moment) int {
	for _, origin := range m.Origins {
		if i := l.call(origin); i >= 0 {
			return i
		}
	}
	return -1
}

// call is the call that was in flight at a position, or just answered: not one
// that had settled long ago, for that the position alone does not tell. -1 when
// there is none.
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

// flight is the place of what is done during an exchange.
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

// never is a time after all that are in a ledger.
var never = time.Unix(1<<40, 0)

// unfinished is an exchange before another that may still be at work by then: one
// that was never answered, else that from which on the server has been restless
// without a break, if its timer was due by the time. -1 when there is none.
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

// withAlternativeCause names in where the exchange that may be the cause in place of the current
// one, unless that makes no difference.
func (l Ledger) withAlternativeCause(where Where, current, earlier int) Where {
	if earlier >= 0 && earlier < current && l[earlier].Capability != where.Capability {
		where.AlternativeCause = l[earlier].Capability
	}
	return where
}

// behind is the call that what is done in the background came after; -1 when
// there was none.
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
