package gate

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

// ReadVerdict reads what an audit says about the image that it was last made of. It is
// nil while it says nothing: before the first verdict, and about a server that runs
// elsewhere. The conditions decide, and status.audited what they are about: status.verdict
// is for people, and the spec may be another by now.
func ReadVerdict(audit *v1alpha1.MCPServerAudit) *Verdict {
	status := &audit.Status
	audited := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionAudited)
	if status.LastAuditTime == nil || audited == nil || audited.Status == metav1.ConditionUnknown {
		return nil
	}
	v := &Verdict{
		Audit: types.NamespacedName{Namespace: audit.Namespace, Name: audit.Name},
		Time:  status.LastAuditTime.Time,
	}
	v.readImage(status)
	if v.Image == "" && len(v.Manifests()) == 0 && v.ImageID == "" {
		return nil
	}
	v.readCommand(audit)
	if status.Assurance != nil {
		v.Assurance = report.Assurance{Level: status.Assurance.Level, Tools: status.Assurance.Tools}
	}
	v.readFindings(status, audited)
	v.Drifted = meta.IsStatusConditionFalse(status.Conditions, v1alpha1.ConditionManifestStable)
	v.readReady(status, audited)
	v.readHistory(audit)
	return v
}

// readImage finds what names the image. What the image of the spec named is ambiguous,
// unless the audit found that it is not.
func (v *Verdict) readImage(status *v1alpha1.MCPServerAuditStatus) {
	named := status.ImageDigest
	if audited := status.Audited; audited != nil {
		full, digest, err := Reference(audited.Image)
		if err == nil {
			v.Image = full
		}
		v.Digests, v.Ambiguous, v.ImageID = audited.Digests, audited.AmbiguousDigest, audited.ImageID
		named = cmp.Or(named, digest)
		if _, platform, ok := strings.Cut(audited.Platform, "/"); ok {
			v.Architecture, _, _ = strings.Cut(platform, "/")
		}
	}
	if v.Ambiguous == "" && named != v.ImageID && !slices.Contains(v.Digests, named) {
		v.Ambiguous = named
	}
}

// Manifests are the digests of manifests that the verdict says anything about.
func (v *Verdict) Manifests() []v1alpha1.Digest {
	if v.Ambiguous == "" {
		return v.Digests
	}
	return append(slices.Clone(v.Digests), v.Ambiguous)
}

// readCommand finds what was run. The words are those of the spec, while that is the
// spec that was audited.
func (v *Verdict) readCommand(audit *v1alpha1.MCPServerAudit) {
	audited, server := audit.Status.Audited, audit.Spec.Server
	if audited == nil {
		return
	}
	v.CommandDigest, v.ArgvDigest = audited.CommandDigest, audited.ArgvDigest
	v.Environment = audited.Environment
	v.WorkingDir, v.CodePaths, v.Exercise = audited.WorkingDir, audited.CodePaths, audited.Exercise
	if audited.Exercise == nil && (len(server.Env) > 0 || server.WorkingDir != "") {
		v.Environment = &report.Environment{Names: []string{""}} // by an operator that did not record it: equal to none
	}
	if v1alpha1.CommandDigest(server.Command, server.Args) == v.CommandDigest {
		v.Command, v.Args = server.Command, server.Args
	}
}

// readFindings counts what was found, and has what the server enables. That of another image, which the kubelet ran
// instead, is not about this one. What suppressions leave is all, unless it is told.
func (v *Verdict) readFindings(status *v1alpha1.MCPServerAuditStatus, audited *metav1.Condition) {
	v.Complete = audited.Status == metav1.ConditionTrue && status.Findings != nil
	if status.Findings == nil || audited.Reason == string(report.ReasonImageMismatch) {
		return
	}
	v.Findings, v.Unsuppressed, v.Exposure = *status.Findings, *status.Findings, status.Exposure
	if status.Audited != nil && status.Audited.Unsuppressed != nil {
		v.Unsuppressed = *status.Audited.Unsuppressed
	}
}

// readReady finds out whether the verdict is renewed. Ready speaks of something else
// where an audit is held back, and until one has brought a verdict again.
func (v *Verdict) readReady(status *v1alpha1.MCPServerAuditStatus, audited *metav1.Condition) {
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		v.Halted = true
	case ready.Status == metav1.ConditionUnknown, ready.Reason == v1alpha1.ReasonSuspended,
		ready.Reason == v1alpha1.ReasonInvalidSpec, ready.Reason == v1alpha1.ReasonNotAllowed:
		v.Halted, v.Reason = true, ready.Reason
	default:
		v.Reason = ready.Reason
	}
	if !v.Complete {
		v.Reason = audited.Reason
	}
}

// readHistory finds whether the last conclusive audit of the same image and spec passed. The
// history keeps no findings: the thresholds are those of the spec, unless it has changed since.
// An audit that could not pull the image counts for the previous one: an outage revokes no pass.
func (v *Verdict) readHistory(audit *v1alpha1.MCPServerAudit) {
	status, spec := &audit.Status, audit.Spec
	i := slices.IndexFunc(status.History, func(entry v1alpha1.HistoryEntry) bool {
		return entry.Verdict != v1alpha1.VerdictInconclusive ||
			entry.Trigger == v1alpha1.TriggerSpecChanged || entry.Trigger == v1alpha1.TriggerBaselineChanged
	})
	if v.Complete || i < 0 || status.History[i].Verdict != v1alpha1.VerdictPass {
		return
	}
	entry := status.History[i]
	if entry.ImageDigest == "" || status.Trigger == nil || entry.ImageDigest != v.ImageID && !slices.Contains(v.Manifests(), entry.ImageDigest) {
		return
	}
	if digest, err := trigger.DigestOf(audit); err != nil || digest != status.Trigger.SpecDigest {
		return
	}
	v.Passed, v.PassedFailOn, v.PassedSuppressing = entry.Time.Time, cmp.Or(spec.FailOn, "High"), len(spec.Suppressions) > 0
	v.PassedAssurance = entry.Assurance
}
