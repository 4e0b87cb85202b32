package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// supervisorKilled is not a SandboxFailed, which would be retried: the server can kill its supervisor in every audit.
var supervisorKilled = report.Incomplete{Reason: report.ReasonServerExited, Message: ErrSupervisorKilled.Error()}

// unwatched returns why a run was not observed from beginning to end.
func (o observation) unwatched() report.Incomplete {
	switch {
	case errors.Is(o.launched, trace.ErrUnavailable):
		return report.Incomplete{Reason: report.ReasonTracerUnavailable, Message: o.launched.Error()}
	case errors.Is(o.launched, context.DeadlineExceeded):
		return report.Incomplete{Reason: report.ReasonTimeout, Message: fmt.Sprintf("the server was not started in time: %v", o.launched)}
	case errors.Is(o.launched, ErrSupervisorKilled):
		return supervisorKilled
	case o.launched != nil:
		return report.Incomplete{Reason: report.ReasonSandboxFailed, Message: o.launched.Error()}
	case o.untraced:
		return report.Incomplete{}
	case o.starved:
		return report.Incomplete{Reason: report.ReasonOOMKilled, Message: "a process of the server was killed because the memory of the sandbox had run out"}
	case o.stats.Overflow:
		return o.overflow()
	case o.lost:
		return o.tracerLost()
	case !o.stats.Begun:
		return report.Incomplete{Reason: report.ReasonTracerLost, Message: o.explainExit("the tracer did not see the server's start")}
	case o.unheard():
		return report.Incomplete{Reason: report.ReasonTraceOverflow,
			Message: "the server has answered, and the trace has nothing of that: it is not known what was done in which call"}
	case o.exited && !o.known:
		return supervisorKilled
	default:
		return report.Incomplete{}
	}
}

// tracerLost returns that the tracer ended, unless the server had been given up before.
func (o observation) tracerLost() report.Incomplete {
	if o.stopping && o.result.Incomplete.Reason == report.ReasonTimeout {
		return o.unanswered()
	}
	return report.Incomplete{Reason: report.ReasonTracerLost, Message: "the tracer ended while the server was running"}
}

// unheard reports whether the server answered in a way that the trace does not show, such as by a program that
// listened in its place.
func (o observation) unheard() bool {
	answered := slices.ContainsFunc(o.result.Ledger, func(e ledger.Exchange) bool { return e.Received > 0 })
	return answered && o.stats.At.Out == 0
}
