package rules

import (
	"encoding/json"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/behavior"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

func drifting(moment report.Moment, d report.Drift) []Input {
	return altered(func(in *Input) { in.Drifts = []Drift{{Moment: moment, Drift: d, Words: d}} })
}

var (
	changedTool  = report.Drift{Changed: []string{"tool a"}}
	fetched      = connect(call, "tcp", "93.184.216.34", 80)
	fetchedAgain = with(fetched, func(e *profile.Effect) { e.Count, e.PID, e.Phase = 7, 12, report.PhaseIdle })
)

var _ = prove(map[string]proof{
	report.RuleManifestChanged: {finds: altered(sinceBaseline("sha256:0")), spares: altered(sinceBaseline("")), judge: againstBaseline},
	report.RuleBehaviorChanged: {finds: altered(hasDone(fetched)), spares: altered(hasDone(fetchedAgain, fetched)), judge: againstBaseline},
	report.RuleEnablesMore:     {finds: altered(enabled(report.ReachBounded)), spares: altered(enabled(report.ReachArbitrary)), judge: againstBaseline},
	"MCPA-MANIFEST-002":        {finds: drifting(report.MomentSession, changedTool), spares: drifting(report.MomentSession, report.Drift{})},
	"MCPA-MANIFEST-003":        {finds: drifting(report.MomentRestart, changedTool), spares: drifting(report.MomentSession, changedTool)},
	"MCPA-MANIFEST-004":        {finds: drifting(report.MomentIdentity, changedTool), spares: drifting(report.MomentRestart, changedTool)},
	"MCPA-MANIFEST-005": {
		finds: drifting(report.MomentClock, changedTool),
		spares: altered(func(in *Input) { // a date in a text has to differ
			in.Drifts = []Drift{{Moment: report.MomentClock, Drift: changedTool}}
		}),
	},
	"MCPA-MANIFEST-006": {finds: altered(taken("purge_notes")), spares: altered(taken("format_note"))},
})

// taken gives an input a tool that took a call where guards were tried, beside one that is listed.
func taken(name string) func(*Input) {
	return func(in *Input) {
		in.Manifest.Tools = []json.RawMessage{[]byte(`{"name":"format_note"}`)}
		in.Attack.Unlisted = []attack.Taken{{Name: name, Answer: "done"}}
	}
}

// TestUnlisted: how bad a tool is that no list has is told by its name, and one that is listed in other
// surroundings is none.
func TestUnlisted(t *testing.T) {
	for name, want := range map[string]string{
		"purge_notes": `MANIFEST-006 Medium: The server answered a call of the tool "purge_notes", which no list of its tools has: "done"`,
		"debug-env":   "MANIFEST-006 High",
		"show_time":   "",
	} {
		in := input(silent)
		taken(name)(&in)
		in.Others = []Advertised{{Manifest: manifest.Manifest{Tools: []json.RawMessage{[]byte(`{"name":"show_time"}`)}}}}
		expect(t, in, want)
	}
}

// sinceBaseline gives an input a baseline of that digest, of its own manifest's if
// it is empty.
func sinceBaseline(digest string) func(*Input) {
	return func(in *Input) {
		in.Manifest = manifest.Manifest{ServerName: []byte(`"notes"`)}
		if digest == "" {
			digest = in.Manifest.Report().Digest
		}
		in.Baseline = &report.Report{ManifestDigest: digest}
	}
}

// hasDone gives an input that did something, and a baseline that did the rest.
func hasDone(now profile.Effect, before ...profile.Effect) func(*Input) {
	return func(in *Input) {
		in.Profile.Effects = []profile.Effect{now}
		in.Baseline = &report.Report{Behavior: behavior.Of(profile.Profile{Effects: before}, behavior.Server{}, false)}
	}
}

// enabled gives an input a baseline in which a tool that starts programs reached that far.
func enabled(before report.Reach) func(*Input) {
	return func(in *Input) { in.Baseline = &report.Report{Exposure: reaching(before)} }
}

func reaching(reach report.Reach) *report.Exposure {
	e := report.ExposureOf([]report.ExposureItem{{Capability: call.Capability, Kind: report.ExposesCommandExecution, Reach: reach, Basis: report.BasisProven}})
	return &e
}

// againstBaseline finds what whoever holds the baseline finds.
func againstBaseline(in Input) []report.Finding {
	now := in.Manifest.Report()
	_, found := report.Compare(*in.Baseline, report.Report{
		Manifest: now, ManifestDigest: now.Digest, Behavior: behavior.Of(in.Profile, behavior.Server{}, false), Exposure: reaching(report.ReachArbitrary),
	})
	return found
}
