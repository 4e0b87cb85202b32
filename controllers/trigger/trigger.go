// Package trigger answers "why audit now?" as data. The answer is a chain of
// pure functions over what is known of an audit; the first that has a reason
// decides. The reconciler asks, and shows the answer in the status, the event
// and the report.
package trigger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// maxRequested is the cap of status.lastHandledReconcileAt, in bytes.
const maxRequested = 256

// Input is what the decision depends on.
type Input struct {
	// Generation of the spec, and the digest of what an outcome depends on.
	Generation int64
	SpecDigest v1alpha1.Digest
	// Requested is the value of the annotation, Handled the last one answered.
	Requested, Handled string
	// Last is the trigger of the last audit; nil if there was none.
	Last *v1alpha1.Trigger
	// Held says that a suspension held back an audit, so that the conditions
	// speak of the suspension and not of a verdict.
	Held bool
	// Untils are the ends of the suppressions of the spec, Audited when the last
	// verdict was decided, Now the time.
	Untils       []time.Time
	Audited, Now time.Time
}

// Trigger is why an audit is due.
type Trigger struct {
	Reason  v1alpha1.TriggerReason
	Message string
}

// chain is in the order of importance: what comes first is shown.
var chain = []func(Input) (Trigger, bool){neverAudited, specChanged, requested, suppressionExpired}

// Due tells whether an audit is due, and why.
func Due(in Input) (Trigger, bool) {
	for _, check := range chain {
		if t, due := check(in); due {
			return t, true
		}
	}
	return Trigger{}, false
}

func neverAudited(in Input) (Trigger, bool) {
	return Trigger{v1alpha1.TriggerNeverAudited, "the server has not been audited yet"}, in.Last == nil
}

func specChanged(in Input) (Trigger, bool) {
	if in.Last.SpecDigest == in.SpecDigest && !in.Held {
		return Trigger{}, false
	}
	return Trigger{v1alpha1.TriggerSpecChanged, fmt.Sprintf(
		"the spec changed from generation %d, the last one audited, to %d", in.Last.Generation, in.Generation)}, true
}

func requested(in Input) (Trigger, bool) {
	if in.Requested == "" || in.Requested == in.Handled {
		return Trigger{}, false
	}
	return Trigger{v1alpha1.TriggerRequested, fmt.Sprintf(
		"the annotation %s was set to %q", v1alpha1.RequestedAtAnnotation, in.Requested)}, true
}

func suppressionExpired(in Input) (Trigger, bool) {
	for _, until := range in.Untils {
		if until.After(in.Audited) && !until.After(in.Now) {
			return Trigger{v1alpha1.TriggerSuppressionExpired, fmt.Sprintf(
				"a suppression of the spec ended at %s", until.UTC().Format(time.RFC3339))}, true
		}
	}
	return Trigger{}, false
}

// Next is how long it takes until an audit will be due by itself; 0 if none will.
func Next(in Input) time.Duration {
	var next time.Duration
	for _, until := range in.Untils {
		if wait := until.Sub(in.Now); wait > 0 && (next == 0 || wait < next) {
			next = wait
		}
	}
	return next
}

// Requested reads the annotation, cut to what the status can hold.
func Requested(annotations map[string]string) string {
	return excerpt.Cut(annotations[v1alpha1.RequestedAtAnnotation], maxRequested)
}

// SpecDigest is over the part of a spec that the outcome of an audit depends
// on: suspending an audit, or keeping more of its reports, is no reason to run it.
func SpecDigest(spec v1alpha1.MCPServerAuditSpec) (v1alpha1.Digest, error) {
	spec.Suspend, spec.HistoryLimit = false, nil
	encoded, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encode spec: %w", err)
	}
	sum := sha256.Sum256(encoded)
	return v1alpha1.Digest("sha256:" + hex.EncodeToString(sum[:])), nil
}
