// Package ledger records the conversation that the probe had with the server,
// in byte offsets, and tells which part of it a position of the trace lies in.
//
// The probe writes it, the profile reads it. It is pure: offsets are counted
// by the runner on its side of the pipes and by the trace on the server's, so
// that no clock, and no byte of content, has to be compared.
package ledger

import (
	"sort"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Exchange is one request and its response. Requests are sent one at a time.
// What the runner sends besides (notifications, answers to sampling, roots and
// elicitation) counts in the stdin offset and belongs to the exchange in
// flight, or to the last one.
type Exchange struct {
	// Phase is PhaseHandshake, PhaseList or PhaseCall.
	Phase report.Phase
	// Capability is what was called; Kind Server for handshake and list.
	Capability report.Capability
	// Method is that of the request, such as "tools/call".
	Method string
	// SentStart and SentEnd are the request's half-open range of bytes in the
	// stdin pipe, counted from the first byte the runner ever wrote there.
	SentStart, SentEnd int64
	// Received is the number of bytes that had come from the stdout pipe when
	// the response was whole, its newline included; 0 while it is unanswered.
	Received int64
}

// Ledger is a session's exchanges in the order in which they were sent:
// SentStart strictly ascends.
type Ledger []Exchange

// Where is a place in the session.
type Where struct {
	Phase       report.Phase
	Capability  report.Capability
	Attribution report.Attribution
}

// At tells where in the session a position lies:
//
//   - nothing of the first request was read: Startup;
//   - the server has read the end of stdin: Shutdown;
//   - it has begun to read a request and not yet written the whole response:
//     in flight, with the request's phase and capability;
//   - it has written the response and not yet read the next request: after the
//     response, with the same phase and capability;
//   - it has written the last response: Idle.
//
// A request that was never answered stays in flight until the next one is read.
// A response that was written counts its request as read: a server that has
// guessed it, or has seen it without reading (tee(2)), gains nothing.
func (l Ledger) At(p trace.Position) Where {
	if p.EOF {
		return server(report.PhaseShutdown)
	}
	// The first exchange that the server had read nothing of.
	next := sort.Search(len(l), func(i int) bool { return l[i].SentStart >= p.In })
	for i := next; i < len(l); i++ {
		if l[i].Received != 0 && l[i].Received <= p.Out {
			next = i + 1
		}
	}
	if next == 0 {
		return server(report.PhaseStartup)
	}
	current := l[next-1]
	where := Where{current.Phase, current.Capability, report.AttributionInFlight}
	if current.Received == 0 || p.Out < current.Received {
		return where
	}
	if next == len(l) {
		return server(report.PhaseIdle)
	}
	where.Attribution = report.AttributionAfter
	return where
}

func server(phase report.Phase) Where {
	return Where{phase, report.Capability{Kind: report.CapabilityServer}, report.AttributionPhase}
}
