package audit

import (
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// findings judges what was seen by the rules, and the manifest by the baseline.
func findings(plan Plan, runs []observation, seen profile.Profile) []report.Finding {
	_ = seen
	var all []report.Finding
	last := runs[len(runs)-1]
	if changed, ok := compare(plan, last); ok {
		all = append(all, changed)
	}
	return all
}

// compare holds the manifest against that of the baseline. A manifest that was
// not listed whole is Inconclusive by itself.
func compare(plan Plan, o observation) (report.Finding, bool) {
	if plan.Baseline == nil || !o.result.Listed {
		return report.Finding{}, false
	}
	before, after := plan.Baseline.ManifestDigest, o.result.Manifest.Report()
	if before == after.Digest {
		return report.Finding{}, false
	}
	return report.ManifestChanged(before, after.Digest, report.Diff(plan.Baseline.Manifest, after), plan.Baseline.EndTime), true
}
