package hostile

import (
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// hostile is a server and what an audit has to make of it. The findings are the
// numbers of those about the protocol, sorted: no more and no fewer.
type hostile struct {
	mode     string
	verdict  report.Verdict
	reason   report.Reason
	findings []string
}

func passes(mode string, findings ...string) hostile {
	return hostile{mode, report.VerdictPass, report.ReasonPassed, findings}
}

func inconclusive(mode string, reason report.Reason, findings ...string) hostile {
	return hostile{mode, report.VerdictInconclusive, reason, findings}
}

// busy are the servers that make us work, and not wait.
var busy = []string{"endless-list", "giant-schema", "giant-line"}

func (tc hostile) timeout() time.Duration {
	if slices.Contains(busy, tc.mode) {
		return long
	}
	return timeout
}

var servers = []hostile{
	passes("honest"),
	passes("quirky"),

	inconclusive("endless-list", report.ReasonProtocolError, "002"),
	inconclusive("cursor-loop", report.ReasonProtocolError, "002"),
	inconclusive("repeated-cursor", report.ReasonProtocolError, "002"),
	passes("duplicate-tools", "006"),
	inconclusive("nameless-tool", report.ReasonProtocolError, "004"),
	inconclusive("many-tools", report.ReasonProtocolError, "002"),
	passes("restless-list"),

	passes("giant-schema"),
	passes("exponential-ref"),
	passes("exponential-all"),
	passes("recursive-schema"),
	passes("deep-schema"),

	inconclusive("giant-line", report.ReasonProtocolError, "003"),
	inconclusive("invalid-json", report.ReasonProtocolError, "004"),
	inconclusive("truncated-json", report.ReasonServerExited, "004"),
	inconclusive("deep-json", report.ReasonProtocolError, "004"),
	passes("pollution", "001"),
	inconclusive("blank-flood", report.ReasonTimeout),
	inconclusive("stderr-flood", report.ReasonTimeout),
	inconclusive("result-and-error", report.ReasonProtocolError, "004"),
	inconclusive("batch", report.ReasonProtocolError, "004"),
	passes("huge-errors"),

	passes("duplicate-answer", "005"),
	passes("early-answers", "005"),
	inconclusive("wrong-id", report.ReasonTimeout, "005"),
	inconclusive("string-id", report.ReasonTimeout, "005"),

	inconclusive("mute", report.ReasonTimeout),
	inconclusive("mute-calls", report.ReasonTimeout),
	inconclusive("slow-loris", report.ReasonTimeout),
	inconclusive("deaf", report.ReasonTimeout),
	inconclusive("close-stdout", report.ReasonProtocolError),
	inconclusive("exit-listed", report.ReasonServerExited),
	inconclusive("crash-third", report.ReasonServerExited),
	{"kill-group", report.VerdictFail, report.ReasonFindingsAboveThreshold, nil},
	inconclusive("flood-notices", report.ReasonTimeout, "007"),
	inconclusive("progress", report.ReasonTimeout),

	inconclusive("flood-requests", report.ReasonTimeout, "007"),
	inconclusive("elicitation-loop", report.ReasonTimeout, "007"),
	passes("input-loop"),
}
