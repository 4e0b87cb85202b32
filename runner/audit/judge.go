package audit

import (
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// findings judges what was seen by the rules, and the manifest by the baseline.
func findings(plan Plan, last observation, seen profile.Profile, leaks []leak.Leak, now time.Time) []report.Finding {
	bad := last.result.Pollution
	in := rules.Input{
		Profile: seen, Leaks: leaks, Scope: scope.Read(last.result.Manifest), Resolvers: plan.resolvers, End: now,
		Drift: last.result.Drift, Announced: last.result.Announced,
		Pollution: rules.Pollution{Lines: bad.Lines, Sample: bad.Sample, Phase: bad.Phase, Capability: bad.Capability},
		Breaches:  last.result.Breaches,
	}
	for _, f := range plan.Canaries.Files {
		in.Canaries = append(in.Canaries, rules.Canary{Path: f.Path, Routine: f.Routine})
	}
	all := rules.Judge(in)
	if changed, ok := compare(plan.Baseline, last, now); ok {
		all = append(all, changed)
	}
	return all
}

// compare holds the manifest against that of the baseline. A manifest that was
// not listed whole is Inconclusive by itself.
func compare(baseline *report.Report, o observation, now time.Time) (report.Finding, bool) {
	if baseline == nil || !o.result.Listed {
		return report.Finding{}, false
	}
	manifest := o.result.Manifest.Report()
	if baseline.ManifestDigest == manifest.Digest {
		return report.Finding{}, false
	}
	drift := report.Diff(baseline.Manifest, manifest)
	return report.ManifestChanged(baseline.ManifestDigest, manifest.Digest, drift, now), true
}
