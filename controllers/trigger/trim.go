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

// maxCachedSpec and maxCachedAnnotations are the most bytes of JSON that a cache keeps of
// an audit's spec and annotations. Nearly all audits have less; tenants can create many
// that have more, see the policy mcpaudit-size.
const (
	maxCachedSpec        = 8 << 10
	maxCachedAnnotations = 4 << 10
)

// Trim is for the caches of managers and gates. It drops the large parts of a large audit
// and leaves the digest of the whole spec in TrimmedSpec: who needs the rest reads the
// audit from the API server. Reflectors transform an object more than once.
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

// ownAnnotations keeps those that the operator reads, a few short ones.
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

// trimmed keeps of a spec what is read of audits that are not being reconciled: by the
// gate, policy reports and metrics.
func trimmed(spec v1alpha1.MCPServerAuditSpec) v1alpha1.MCPServerAuditSpec {
	kept := v1alpha1.MCPServerAuditSpec{
		Server:   v1alpha1.Server{Image: spec.Server.Image, URL: spec.Server.URL, Transport: spec.Server.Transport, Port: spec.Server.Port, Path: spec.Server.Path},
		Baseline: spec.Baseline, FailOn: spec.FailOn, Timeout: spec.Timeout, HistoryLimit: spec.HistoryLimit, Schedule: spec.Schedule,
		RetryLimit: spec.RetryLimit, Suspend: spec.Suspend,
	}
	// The gate asks whether there are any: a verdict of an operator that did not record them
	// must not count for containers without.
	if len(spec.Server.Env) > 0 || spec.Server.WorkingDir != "" {
		kept.Server.Env = make([]v1alpha1.EnvVar, 1)
	}
	if len(spec.Suppressions) > 0 { // the gate asks whether there are any
		kept.Suppressions = make([]report.Suppression, 1)
	}
	return kept
}

// size is the number of bytes of JSON that a value takes.
func size(value any) int {
	encoded, err := json.Marshal(value)
	if err != nil {
		return math.MaxInt
	}
	return len(encoded)
}

// DigestOf is the SpecDigest of an audit, which may be one of a cache that keeps only a
// part of a large spec.
func DigestOf(audit *v1alpha1.MCPServerAudit) (v1alpha1.Digest, error) {
	if audit.TrimmedSpec != "" {
		return audit.TrimmedSpec, nil
	}
	return SpecDigest(audit.Spec)
}
