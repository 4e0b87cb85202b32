package rules

import (
	"fmt"
	"math"

	"github.com/mcpaudit/mcpaudit/api/report"
)

var pollutedStdout = Rule{
	ID: "MCPA-PROTOCOL-001", Severity: report.SeverityLow, Title: "Text on stdout that is not MCP",
	Description: "The server wrote lines to stdout that are no JSON-RPC messages. The specification (transports, stdio) " +
		"allows nothing else there; clients differ in what they make of it.",
	Fix: "Write logs and banners to stderr.",
}

func findPollution(in Input) []draft {
	p := in.Pollution
	if p.Lines == 0 {
		return nil
	}
	what := "a line to stdout that is no MCP message:"
	if p.Lines > 1 {
		what = fmt.Sprintf("%d lines to stdout that are no MCP messages, first", p.Lines)
	}
	return []draft{{
		severity: report.SeverityLow, phase: p.Phase, capability: p.Capability, object: "stdout", order: math.MaxInt,
		message: sentence("The server wrote %s %s", what, quoted(p.Sample)),
		evidence: report.Evidence{
			Time: in.End, Detail: "stdout: " + clean(p.Sample, 200), Attribution: report.AttributionPhase,
		},
	}}
}
