package rules

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// moments describe when a manifest differed.
var moments = map[report.Moment]struct{ message, evidence string }{
	report.MomentSession:  {"What the server advertises changed while it was called", "lists after the calls"},
	report.MomentRestart:  {"What the server advertises changed when it was started again", "lists after a restart with the same files"},
	report.MomentIdentity: {"What the server advertises is something else for a client of another name", "lists for another client, with the same capabilities"},
	report.MomentClock:    {"What the server advertises is something else at a later date", "lists with the clock set forward"},
}

// drifted finds how the manifest differed at one moment.
func drifted(moment report.Moment) func(Input) []draft {
	return func(in Input) []draft {
		i := slices.IndexFunc(in.Drifts, func(d Drift) bool { return d.Moment == moment })
		if i < 0 {
			return nil
		}
		drift, severity, when := in.Drifts[i], report.SeverityMedium, moments[moment]
		what, among := drift.Words, ""
		switch {
		case len(drift.Words.Changed) > 0:
			severity = report.SeverityHigh
		case !drift.Words.Empty() && drift.Announced:
			return nil
		case drift.Words.Empty() && len(drift.Changed) > 0 && moment != report.MomentClock:
			severity, what, among = report.SeverityLow, drift.Drift, " in times, numbers, ids or order only"
		case drift.Words.Empty():
			return nil
		}
		return []draft{{
			severity: severity, phase: report.PhaseList, capability: report.Capability{Kind: report.CapabilityServer},
			object:   string(moment),
			message:  sentence("%s%s: %s", when.message, among, clean(what.String(), 300)),
			evidence: evidenceAt(in.End, when.evidence+": "+clean(drift.String(), 400)),
		}}
	}
}
