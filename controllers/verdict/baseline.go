package verdict

import (
	"fmt"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
)

// comparison is the result of comparing a manifest with its baseline.
type comparison struct {
	stable   conditions.Condition
	baseline v1alpha1.Digest
	drift    *report.Drift
}

// compare compares a manifest with the baseline.
//
// For TrustOnFirstUse, the first complete listing becomes the baseline, whatever the verdict of
// that audit: findings or a lost tracer say nothing about what the server advertises, and a
// failed audit still fails. A partial listing is neither trusted nor compared: missing items
// may have been removed or not been reached.
func compare(in Input, manifest v1alpha1.Digest) comparison {
	baseline, mismatch := in.Known, v1alpha1.ReasonManifestDrifted
	switch in.Baseline.Mode {
	case v1alpha1.BaselineNone:
		return comparison{stable: conditions.Unknown(v1alpha1.ReasonNoBaseline, "spec.baseline.mode is None: the manifest may change.")}
	case v1alpha1.BaselinePinned:
		baseline, mismatch = in.Baseline.ManifestDigest, v1alpha1.ReasonBaselineMismatch
	}
	switch {
	case in.Failure.Reason == report.ReasonImageMismatch:
		return comparison{baseline: baseline, stable: conditions.Unknown(v1alpha1.ReasonManifestIncomplete,
			"The manifest is another image's, so it was neither compared nor trusted.")}
	case manifest == "":
		return comparison{baseline: baseline, stable: conditions.Unknown(v1alpha1.ReasonManifestIncomplete,
			"The manifest could not be listed completely, so it was neither compared nor trusted.")}
	case baseline == "":
		return comparison{baseline: manifest, stable: conditions.True(v1alpha1.ReasonFirstUse, fmt.Sprintf(
			"The manifest %s is the first that was listed completely, and is the baseline from now on.", manifest))}
	case baseline == manifest:
		return comparison{baseline: baseline, stable: conditions.True(v1alpha1.ReasonMatchesBaseline, fmt.Sprintf(
			"The manifest is the one of the baseline, %s.", baseline))}
	}
	drift := in.drift(baseline)
	return comparison{baseline: baseline, drift: &drift, stable: conditions.False(mismatch, in.driftMessage(manifest, baseline, drift))}
}

// drift returns the changed items; empty if the baseline's manifest is not kept, or if only
// truncated parts differ.
func (in Input) drift(baseline v1alpha1.Digest) report.Drift {
	if in.Report == nil || in.KnownManifest == nil || in.KnownManifest.Digest != "" && in.KnownManifest.Digest != string(baseline) {
		return report.Drift{}
	}
	return report.Diff(*in.KnownManifest, in.Report.Manifest)
}

func (in Input) driftMessage(manifest, baseline v1alpha1.Digest, drift report.Drift) string {
	what := in.Change
	switch {
	case drift.Empty():
		what = "The manifest is not the one of the baseline: no report of the baseline is kept to tell what changed."
	case what == "":
		what = fmt.Sprintf("The manifest is not the one of the baseline: %s.", drift)
	}
	return fmt.Sprintf("%s The baseline is %s, the manifest is %s. To approve the change after a review, set spec.baseline to mode Pinned with that manifestDigest.",
		what, baseline, manifest)
}
