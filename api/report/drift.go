package report

import (
	"fmt"
	"time"
)

// RuleManifestChanged is the id of the finding of ManifestChanged.
const RuleManifestChanged = "MCPA-MANIFEST-001"

// ManifestChanged is the finding that a manifest is not the one of the
// baseline. drift may be empty when only the digests are known.
func ManifestChanged(baseline, digest string, drift Drift, at time.Time) Finding {
	detail := fmt.Sprintf("manifest digest %s, baseline %s", digest, baseline)
	message := "The manifest is not the one of the baseline."
	if !drift.Empty() {
		message = fmt.Sprintf("The manifest is not the one of the baseline: %s.", drift)
	}
	return Finding{
		Rule: RuleManifestChanged, Severity: SeverityHigh,
		Title: "Manifest changed since the baseline", Message: message,
		Phase: PhaseList, Capability: Capability{Kind: CapabilityServer},
		Evidence: []Evidence{{Time: at, Detail: detail, Attribution: AttributionPhase}},
	}
}
