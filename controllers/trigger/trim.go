package trigger

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// maxCachedSpec and maxCachedAnnotations bound a cached audit's spec and annotations in bytes
// of JSON. Nearly all are smaller; tenants can create many larger ones, see the policy
// mcpaudit-size.
const (
	maxCachedSpec        = 8 << 10
	maxCachedAnnotations = 4 << 10
)

// Trim drops large parts of a large audit for the caches of managers and gates, and keeps the
// spec's digest in TrimmedSpec: readers that need the rest read the audit live. It is
// idempotent, as reflectors transform objects repeatedly.
func Trim(audit *v1alpha1.MCPServerAudit) error {
	if audit.TrimmedSpec != "" {
		return nil
	}
	large := size(audit.Annotations) > maxCachedAnnotations
	if large {
		audit.Annotations = ownAnnotations(audit.Annotations)
	}
	if !large && size(audit.Spec) <= maxCachedSpec {
		return nil
	}
	digest, err := SpecDigest(audit.Spec)
	if err != nil {
		return err
	}
	audit.TrimmedSpec, audit.Spec = digest, trimmed(audit.Spec)
	return nil
}

// ownAnnotations keeps the few short annotations that the operator reads.
func ownAnnotations(all map[string]string) map[string]string {
	kept := map[string]string{}
	if requested := Requested(all); requested != "" {
		kept[v1alpha1.RequestedAtAnnotation] = requested
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		isOwn := strings.HasPrefix(key, v1alpha1.GroupVersion.Group+"/")
		if isOwn && len(kept) < 16 && len(key)+len(all[key]) <= maxCachedAnnotations/16 {
			kept[key] = all[key]
		}
	}
	return kept
}

// trimmed keeps the spec fields that the gate, policy reports and metrics read.
func trimmed(spec v1alpha1.MCPServerAuditSpec) v1alpha1.MCPServerAuditSpec {
	kept := v1alpha1.MCPServerAuditSpec{
		Server:   v1alpha1.Server{Image: spec.Server.Image, URL: spec.Server.URL, Transport: spec.Server.Transport, Port: spec.Server.Port, Path: spec.Server.Path},
		Baseline: spec.Baseline, FailOn: spec.FailOn, Timeout: spec.Timeout, HistoryLimit: spec.HistoryLimit, Schedule: spec.Schedule,
		RetryLimit: spec.RetryLimit, Suspend: spec.Suspend,
	}
	// The gate asks whether there are any: a verdict of an older operator that did not record
	// them must not count for containers without.
	if len(spec.Server.Env) > 0 || spec.Server.WorkingDir != "" {
		kept.Server.Env = make([]v1alpha1.EnvVar, 1)
	}
	if len(spec.Suppressions) > 0 { // the gate asks whether there are any
		kept.Suppressions = make([]report.Suppression, 1)
	}
	return kept
}

// size returns the JSON size of a value in bytes.
func size(value any) int {
	encoded, err := json.Marshal(value)
	if err != nil {
		return math.MaxInt
	}
	return len(encoded)
}

// DigestOf returns the SpecDigest of an audit, whose cached spec may be trimmed.
func DigestOf(audit *v1alpha1.MCPServerAudit) (v1alpha1.Digest, error) {
	if audit.TrimmedSpec != "" {
		return audit.TrimmedSpec, nil
	}
	return SpecDigest(audit.Spec)
}
