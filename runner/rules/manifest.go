package rules

import (
	"math"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// manifestRules are about what changes. Those that have no function are found where
// the baseline is: by report.Compare.
var manifestRules = []family{
	{manifestChanged, nil},
	{behaviorChanged, nil},
	{manifestUnsteady, drifted(report.MomentSession)},
	{manifestRestart, drifted(report.MomentRestart)},
	{manifestIdentity, drifted(report.MomentIdentity)},
	{manifestClock, drifted(report.MomentClock)},
}

var manifestChanged = Rule{
	ID: report.RuleManifestChanged, Severity: report.SeverityHigh, Title: "Manifest changed since the baseline",
	Description: "What the server advertises is not what was approved, or seen first: names, titles, descriptions, schemas, " +
		"arguments, hints that are not their defaults, instructions, capabilities or the server's name differ. `_meta`, icons, " +
		"sizes, versions, the order of items and default-valued hints do not count. Low where nothing but times, numbers, ids " +
		"or the order of words in a list differ.",
	Fix: "Announce what changes with a new version, and why, so that whoever runs the server can review it.",
	Expected: "Every release that touches a description is found: it is a change that a model acts on, and the finding shows " +
		"its text. A server whose lists come in the order of a hash, or whose texts hold a time or a port, gives Low.",
	Mitigation: report.MitigateManifestChanged,
	References: []string{"OWASP MCP03:2025", "SAFE-T1201"},
}

var behaviorChanged = Rule{
	ID: report.RuleBehaviorChanged, Severity: report.SeverityMedium, Title: "Behaviour changed since the baseline",
	Description: "The server connected to a host, ran a program, listened, or used a place for files that it had not in the " +
		"audit of the baseline. Medium for the same manifest; Low where it only read files of the system " +
		"or its own, not those of users, other processes or /run; Info where the manifest has changed as well, which is a finding of its own. Both audits must have seen " +
		"everything and exercised the server in the same way: with the same seed, rounds, choice of calls, transport and network. " +
		"What it does no more is shown and is no finding.",
	Fix: "Say with the new version what it does that the one before did not.",
	Expected: "A server that does something only now and then (an update check once a day) can give one; names made up for a run, " +
		"ports of the server's own and the markers of the audit are not compared.",
	Mitigation: report.MitigateBehaviorChanged,
	References: []string{"OWASP MCP03:2025", "SAFE-T1201"},
}

// What the rules about one audit's manifests have in common.
const (
	steadyGrades = "High where something changed that was there before; Medium where a tool, template or prompt came or went; " +
		"Low where nothing but times, numbers, ids or the order of words in a list differ. Resources that come and go are a server's data."
	steadyExpected = "A server that asks another one for its tools can find it changed in between. What differs by chance is " +
		"told apart: times, numbers and ids are Low, and what differs from one start to the next is not said to depend on the client or the date."
	steadyMitigation = "Put a gateway in front of the server that passes on what was approved and nothing else, and calls no tool " +
		"whose definition is another; have the host ask again for each tool that changes."
	steadyFix = "Advertise the same every time. What has to differ belongs into results, not into what is reviewed."
)

var manifestUnsteady = Rule{
	ID: "MCPA-MANIFEST-002", Severity: report.SeverityHigh, Title: "Manifest changed during the session",
	Description: "After the calls, the lists of tools, templates and prompts were not what they had been before them. High where " +
		"something changed that was there before; Medium where it came or went without a list_changed notification; Low where nothing " +
		"but times, numbers, ids or the order of words in a list differ. What comes or goes as announced is no finding, and what is new is called as well.",
	Fix:      "Keep a tool's description and schema for the length of a session; announce tools that come and go.",
	Expected: steadyExpected, Mitigation: steadyMitigation,
	References: []string{"OWASP MCP03:2025", "SAFE-T1201"},
}

var manifestRestart = Rule{
	ID: "MCPA-MANIFEST-003", Severity: report.SeverityHigh, Title: "Manifest changed on restart",
	Description: "Started again, with the files that it had left, the server advertised something else than when it was started first, " +
		"and than at the end of that session. " + steadyGrades,
	Fix:      steadyFix,
	Expected: steadyExpected, Mitigation: steadyMitigation,
	References: []string{"OWASP MCP03:2025", "SAFE-T1201", "SAFE-T1205"},
}

var manifestIdentity = Rule{
	ID: "MCPA-MANIFEST-004", Severity: report.SeverityHigh, Title: "Manifest depends on the client's name",
	Description: "To a client that gave itself another name, with the same capabilities, the server advertised something else, " +
		"which it did not when it was started again for the first. " + steadyGrades,
	Fix:      steadyFix + " What a client can do it says by its capabilities.",
	Expected: steadyExpected, Mitigation: steadyMitigation,
	References: []string{"OWASP MCP03:2025", "SAFE-T1201"},
}

var manifestClock = Rule{
	ID: "MCPA-MANIFEST-005", Severity: report.SeverityHigh, Title: "Manifest depends on the date",
	Description: "With its clock set forward, the server advertised something else, which it did not when it was started again " +
		"at the present time. High where something changed that was there before; Medium where a tool, template or prompt came or went. " +
		"Dates in texts, and other numbers, are no finding: they have to differ.",
	Fix:      steadyFix,
	Expected: steadyExpected, Mitigation: steadyMitigation,
	References: []string{"OWASP MCP03:2025", "SAFE-T1201"},
}

// moments say when a manifest differed.
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
			object: string(moment), order: math.MaxInt,
			message: sentence("%s%s: %s", when.message, among, clean(what.String(), 300)),
			evidence: report.Evidence{
				Time: in.End, Detail: when.evidence + ": " + clean(drift.String(), 400), Attribution: report.AttributionPhase,
			},
		}}
	}
}
