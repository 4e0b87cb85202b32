package rules

import (
	"math"

	"github.com/mcpaudit/mcpaudit/api/report"
)

var manifestChanged = Rule{
	ID: report.RuleManifestChanged, Severity: report.SeverityHigh, Title: "Manifest changed since the baseline",
	Description: "What the server advertises is not what was approved, or seen first: names, titles, descriptions, " +
		"schemas, instructions or restrictive hints differ. `_meta`, order and default-valued hints do not count.",
	Fix: "Review the difference and approve it by pinning the new digest.",
}

var manifestUnsteady = Rule{
	ID: "MCPA-MANIFEST-002", Severity: report.SeverityHigh, Title: "Manifest changed during the session",
	Description: "After the calls, the list of tools was not what it had been before them. High where a tool changed " +
		"that was there before; Medium where tools came or went without notifications/tools/list_changed. Tools that " +
		"come or go as announced are no finding, and new ones are called as well.",
	Fix: "Keep a tool's description and schema for the length of a session; announce tools that come and go.",
}

func findUnsteadyManifest(in Input) []draft {
	server := report.Capability{Kind: report.CapabilityServer}
	d := draft{
		severity: report.SeverityMedium, phase: report.PhaseList, capability: server, object: "tools", order: math.MaxInt,
		evidence: report.Evidence{
			Time: in.End, Detail: "tools/list after the calls: " + clean(in.Drift.String(), 400), Attribution: report.AttributionPhase,
		},
	}
	switch {
	case len(in.Drift.Changed) > 0:
		d.severity = report.SeverityHigh
	case in.Drift.Empty() || in.Announced:
		return nil
	}
	d.message = sentence("The list of tools changed while the tools were called: %s", clean(in.Drift.String(), 300))
	return []draft{d}
}
