// Package trigger answers "why audit now?" as data. The answer is a chain of
// pure functions over what is known of an audit: each says at which instant it
// has a reason, and the first of those whose instant has come decides. The
// reconciler asks, and shows the answer in the status, the event and the report;
// the earliest instant to come is when it looks again by itself.
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
// What voids takes the verdict back even where no audit may be made: the verdict is
// about something else than the spec asks for. While an audit is suspended nothing
// else is due.
//
// Generation and digest have both to differ, so that an operator that reads a field
// more out of the same spec, or defaults one, does not audit every server again. Of a
// status that is older than its object, because it was restored with it, only the
// digest counts: the generations of the new object began anew.
// What the status does not say, because an older operator wrote it, is no reason.
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

// maxRequested is the cap of status.lastHandledReconcileAt, in bytes.
const maxRequested = 256

// Input has what the decision depends on.
type Input struct {
	// UID of the audit, Created when it was, Now the time.
	UID     types.UID
	Created time.Time
	Now     time.Time
	// Suspended: only what voids the verdict counts.
	Suspended bool

	// Generation of the spec, the digest of what an outcome depends on, and the
	// baseline as Baseline writes it.
	Generation int64
	SpecDigest v1alpha1.Digest
	Baseline   string
	// Requested is the value of the annotation, Handled the last one answered.
	Requested, Handled string
	// Untils are the ends of the suppressions of the spec.
	Untils []time.Time
	// Schedule of the spec; nil if it has none.
	Schedule *schedule.Schedule

	// Last is the trigger of the last audit, nil if there was none; Audited is when
	// that was decided.
	Last    *v1alpha1.Trigger
	Audited time.Time
	// Held says that the conditions speak of a suspension or of an invalid spec and
	// not of the verdict, which only another audit brings back.
	Held bool
	// Failure says what the last audit failed to observe, as far as it is Inconclusive.
	Failure Failure

	// Unresolved: the registry did not tell what the tag named when the last audit was made.
	Unresolved bool
	// TagDigest is the digest that the tag of the image names in its registry now; empty if
	// that is not known.
	TagDigest v1alpha1.Digest
	// RulesetDigest of the operator's rules; empty to go without.
	RulesetDigest string
	// MaxVerdictAge is how old a verdict may become; 0 for any age.
	MaxVerdictAge time.Duration
}

// Trigger is why an audit is due.
type Trigger struct {
	Reason  v1alpha1.TriggerReason
	Message string
}

// chain is in the order of importance: what comes first is shown.
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

// link is one reason. Only the first sees an Input without Last. when returns the
// instant from which on it is one, and the reason in words; zero for never.
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

// Next returns when an audit will be due by itself; zero if none will, or if one is due
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

// always is the instant of what is true now.
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

// expiring is the part of its greatest age at which a verdict is renewed, in percent.
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

// Requested reads the annotation, cut to what the status can hold.
func Requested(annotations map[string]string) string {
	return excerpt.Cut(annotations[v1alpha1.RequestedAtAnnotation], maxRequested)
}

// Baseline is a spec.baseline as status.trigger.baseline has it: the mode, and for
// Pinned the digest.
func Baseline(b v1alpha1.Baseline) string {
	mode := cmp.Or(b.Mode, v1alpha1.BaselineTrustOnFirstUse)
	if mode != v1alpha1.BaselinePinned {
		return string(mode)
	}
	return string(mode) + " " + string(b.ManifestDigest)
}

// SpecDigest is over the part of a spec that the observations of an audit depend
// on. Suspending an audit, keeping more of its reports, and another time for the
// next are no reason to run it; another baseline is one of its own, because the
// run in progress can be held to it as well.
func SpecDigest(spec v1alpha1.MCPServerAuditSpec) (v1alpha1.Digest, error) {
	spec.Suspend, spec.HistoryLimit, spec.Schedule, spec.RetryLimit, spec.Baseline = false, nil, nil, nil, v1alpha1.Baseline{}
	encoded, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encode spec: %w", err)
	}
	return v1alpha1.Digest("sha256:" + report.Sum(encoded)), nil
}
