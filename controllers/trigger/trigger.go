// Package trigger answers "why audit now?" as data, by a chain of pure functions: each returns
// the instant from which it has a reason, and the first whose instant has come decides. The
// answer is shown in the status, the event and the report; the earliest future instant is when
// the reconciler checks again.
//
//	reason             due
//	NeverAudited       as long as there is no verdict                        voids
//	SpecChanged        when generation and digest of the spec are others     voids
//	BaselineChanged    when spec.baseline is another                         voids
//	ImageChanged       when the tag names another digest in the registry
//	Requested          when the annotation has another value
//	SuppressionExpired when a suppression ends after the verdict             voids
//	RetryDue           a pause after a verdict that may be better next time  retry.go
//	RulesetChanged     when the operator has other rules
//	ScheduleDue        when spec.schedule says so                            controllers/schedule
//	VerdictExpiring    at 90% of the age that a verdict may have
//
// A reason that voids withdraws the verdict even if no audit may run, as the verdict is for
// something else than the spec. While an audit is suspended, no other reason applies.
//
// Generation and digest must both differ, so an operator version that reads or defaults another
// field of the same spec does not re-audit every server. If the status is older than its
// object, because both were restored, only the digest counts: generations restarted.
// Status fields missing because of an older operator are no reason.
package trigger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/schedule"
)

// maxRequested bounds status.lastHandledReconcileAt, in bytes.
const maxRequested = 256

// Input has everything that the decision depends on.
type Input struct {
	// UID and creation time of the audit, and the current time.
	UID     types.UID
	Created time.Time
	Now     time.Time
	// Suspended means that only reasons that void count.
	Suspended bool

	// Generation of the spec, its SpecDigest, and the baseline as formatted by Baseline.
	Generation int64
	SpecDigest v1alpha1.Digest
	Baseline   string
	// Requested is the value of the annotation, Handled the last handled one.
	Requested, Handled string
	// Untils are the ends of the spec's suppressions.
	Untils []time.Time
	// Schedule of the spec; nil if it has none.
	Schedule *schedule.Schedule

	// Last is the trigger of the last audit, nil without one; Audited is when it was decided.
	Last    *v1alpha1.Trigger
	Audited time.Time
	// Held means that the conditions show a suspension or an invalid spec instead of the
	// verdict, which only another audit restores.
	Held bool
	// Failure is the reason why the last audit was Inconclusive.
	Failure Failure

	// Unresolved means that the registry did not resolve the tag at the last audit.
	Unresolved bool
	// TagDigest is the tag's current digest in the registry; empty if unknown.
	TagDigest v1alpha1.Digest
	// RulesetDigest of the operator's rules; empty to ignore.
	RulesetDigest string
	// MaxVerdictAge is the maximum age of a verdict; 0 for none.
	MaxVerdictAge time.Duration
}

// Trigger describes why an audit is due.
type Trigger struct {
	Reason  v1alpha1.TriggerReason
	Message string
}

// chain is in order of importance: the first reason is shown.
var chain = []link{
	{v1alpha1.TriggerNeverAudited, neverAudited, true},
	{v1alpha1.TriggerSpecChanged, specChanged, true},
	{v1alpha1.TriggerBaselineChanged, baselineChanged, true},
	{v1alpha1.TriggerImageChanged, imageChanged, false},
	{v1alpha1.TriggerRequested, requested, false},
	{v1alpha1.TriggerSuppressionExpired, suppressionExpired, true},
	{v1alpha1.TriggerRetryDue, retryDue, false},
	{v1alpha1.TriggerRulesetChanged, rulesetChanged, false},
	{v1alpha1.TriggerScheduleDue, scheduleDue, false},
	{v1alpha1.TriggerVerdictExpiring, verdictExpiring, false},
	{v1alpha1.TriggerSpecChanged, held, true},
}

// link is one reason. Only the first gets an Input without Last. when returns the instant from
// which it applies, zero for never, and a description.
type link struct {
	reason v1alpha1.TriggerReason
	when   func(Input) (time.Time, string)
	voids  bool
}

// Due reports whether an audit is due, and why.
func Due(in Input) (Trigger, bool) {
	for _, l := range in.chain() {
		if at, message := l.when(in); !at.IsZero() && !at.After(in.Now) {
			return Trigger{l.reason, message}, true
		}
	}
	return Trigger{}, false
}

// Next returns when an audit will become due by itself; zero if none will, or if one is due
// already.
func Next(in Input) time.Time {
	var next time.Time
	for _, l := range in.chain() {
		at, _ := l.when(in)
		switch {
		case at.IsZero():
		case !at.After(in.Now):
			return time.Time{}
		case next.IsZero() || at.Before(next):
			next = at
		}
	}
	return next
}

func (in Input) chain() []link {
	var links []link
	for _, l := range chain {
		if l.voids || !in.Suspended {
			links = append(links, l)
		}
		if in.Last == nil {
			break
		}
	}
	return links
}

// always returns an instant in the past if yes.
func (in Input) always(yes bool) time.Time {
	if !yes {
		return time.Time{}
	}
	return in.Now
}

func neverAudited(in Input) (time.Time, string) {
	return in.always(in.Last == nil), "the server has not been audited yet"
}

func specChanged(in Input) (time.Time, string) {
	restored := in.Audited.Before(in.Created)
	message := fmt.Sprintf("the spec changed from generation %d, the last one audited, to %d", in.Last.Generation, in.Generation)
	if restored {
		message = "the status was restored from a backup, and is about another spec"
	}
	return in.always(in.Last.SpecDigest != in.SpecDigest && (restored || in.Last.Generation != in.Generation)), message
}

func baselineChanged(in Input) (time.Time, string) {
	return in.always(in.Last.Baseline != "" && in.Last.Baseline != in.Baseline), fmt.Sprintf(
		"spec.baseline changed from %s to %s", in.Last.Baseline, in.Baseline)
}

func imageChanged(in Input) (time.Time, string) {
	audited := cmp.Or(string(in.Last.ImageDigest), "an image that the registry did not tell of")
	known := in.Last.ImageDigest != "" || in.Unresolved
	return in.always(in.TagDigest != "" && known && in.Last.ImageDigest != in.TagDigest), fmt.Sprintf(
		"the tag of the image names %s in the registry, and %s was audited", in.TagDigest, audited)
}

func requested(in Input) (time.Time, string) {
	return in.always(in.Requested != "" && in.Requested != in.Handled), fmt.Sprintf(
		"the annotation %s was set to %q", v1alpha1.RequestedAtAnnotation, in.Requested)
}

func suppressionExpired(in Input) (time.Time, string) {
	var first time.Time
	for _, until := range in.Untils {
		if until.After(in.Audited) && (first.IsZero() || until.Before(first)) {
			first = until
		}
	}
	return first, fmt.Sprintf("a suppression of the spec ended at %s", first.UTC().Format(time.RFC3339))
}

func rulesetChanged(in Input) (time.Time, string) {
	old := in.Last.RulesetDigest
	return in.always(in.RulesetDigest != "" && old != "" && old != in.RulesetDigest), "the operator has other rules than at the last audit"
}

func scheduleDue(in Input) (time.Time, string) {
	if in.Schedule == nil {
		return time.Time{}, ""
	}
	at := in.Schedule.Next(in.Audited, in.UID)
	return at, fmt.Sprintf("spec.schedule had it due at %s", at.Format(time.RFC3339))
}

// expiring is the percentage of the maximum age at which a verdict is renewed.
const expiring = 90

func verdictExpiring(in Input) (time.Time, string) {
	if in.MaxVerdictAge <= 0 {
		return time.Time{}, ""
	}
	return in.Audited.Add(in.MaxVerdictAge / 100 * expiring).Truncate(time.Second), fmt.Sprintf(
		"the verdict of %s nears the age of %s, at which the operator takes it for outdated", in.Audited.UTC().Format(time.RFC3339), in.MaxVerdictAge)
}

func held(in Input) (time.Time, string) {
	return in.always(in.Held), "the verdict was taken back while the spec was invalid, or suspended with an audit due"
}

// Requested returns the annotation, cut to the status field's limit.
func Requested(annotations map[string]string) string {
	return excerpt.Cut(annotations[v1alpha1.RequestedAtAnnotation], maxRequested)
}

// Baseline formats a spec.baseline for status.trigger.baseline: the mode, and for Pinned the
// digest.
func Baseline(b v1alpha1.Baseline) string {
	mode := cmp.Or(b.Mode, v1alpha1.BaselineTrustOnFirstUse)
	if mode != v1alpha1.BaselinePinned {
		return string(mode)
	}
	return string(mode) + " " + string(b.ManifestDigest)
}

// SpecDigest covers the parts of a spec that an audit's observations depend on. Suspension,
// history limit and schedule are no reason to audit again; a new baseline is a separate reason,
// because it also applies to the run in progress.
func SpecDigest(spec v1alpha1.MCPServerAuditSpec) (v1alpha1.Digest, error) {
	spec.Suspend, spec.HistoryLimit, spec.Schedule, spec.RetryLimit, spec.Baseline = false, nil, nil, nil, v1alpha1.Baseline{}
	encoded, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encode spec: %w", err)
	}
	return v1alpha1.Digest("sha256:" + report.Sum(encoded)), nil
}
