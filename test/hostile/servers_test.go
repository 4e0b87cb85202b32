//go:build hostile

package hostile

import (
	"slices"
	"strings"
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

// inFull are the servers that are audited at depth Standard: what they do may end differently in a later launch. The
// others do the same to every launch.
var inFull = []string{"quirky", "restless-list", "deep-json", "huge-errors", "pollution", "duplicate-answer", "crash-third", "http-sessions", "http-cut"}

// heavy are the servers whose answers take us some work.
var heavy = []string{"endless-list", "many-tools", "deep-json", "giant-line", "giant-schema", "huge-errors", "flood-notices", "flood-requests", "elicitation-loop",
	"http-giant-body", "http-giant-event", "http-gzip-bomb", "http-endless-chunks"}

// limits returns what the audit is given, and a call. What is not expected to use it all
// up ends by itself, and has plenty; but who has 10,000 tools to call never does.
func (tc hostile) limits() (audit, call time.Duration) {
	switch {
	case tc.reason == report.ReasonTimeout || tc.mode == "many-tools":
		return timeout, callTimeout
	case slices.Contains(heavy, tc.mode):
		return long, long / 2
	}
	return long, callTimeout
}

// transport returns how the server is talked to, by its name.
func (tc hostile) transport() string {
	for _, prefix := range []string{"http", "sse"} {
		if strings.HasPrefix(tc.mode, prefix+"-") {
			return prefix
		}
	}
	return "stdio"
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

	inconclusive("giant-schema", report.ReasonTraceOverflow),
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
	inconclusive("huge-errors", report.ReasonNotExercised),

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
	inconclusive("fork-bomb", report.ReasonTimeout),
	inconclusive("flood-notices", report.ReasonTimeout, "007"),
	inconclusive("progress", report.ReasonTimeout),
	inconclusive("late-address", report.ReasonTraceOverflow),

	inconclusive("flood-requests", report.ReasonTimeout, "007"),
	inconclusive("elicitation-loop", report.ReasonTimeout, "007"),
	inconclusive("input-loop", report.ReasonNotExercised),

	passes("http-honest"),
	inconclusive("http-slow-body", report.ReasonTimeout),
	inconclusive("http-endless-stream", report.ReasonTimeout),
	inconclusive("http-endless-chunks", report.ReasonProtocolError),
	inconclusive("http-redirect", report.ReasonProtocolError),
	inconclusive("http-gzip-bomb", report.ReasonProtocolError),
	inconclusive("http-giant-body", report.ReasonProtocolError),
	inconclusive("http-giant-event", report.ReasonProtocolError, "003"),
	inconclusive("http-content-type", report.ReasonProtocolError, "004"),
	inconclusive("http-500", report.ReasonProtocolError),
	passes("http-sessions"),
	inconclusive("http-headers", report.ReasonProtocolError),
	inconclusive("http-cut", report.ReasonProtocolError),
	inconclusive("http-mute", report.ReasonTimeout),
	inconclusive("sse-elsewhere", report.ReasonProtocolError),
	inconclusive("sse-no-endpoint", report.ReasonTimeout),
}
