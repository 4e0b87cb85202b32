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

// ReadVerdict reads an audit's verdict on the image that it last ran. It is nil before the
// first verdict, and for a remote server. The conditions and status.audited decide:
// status.verdict is for people, and the spec may have changed.
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

// readImage reads what identifies the image. The digest of the spec's image is ambiguous,
// unless the audit found otherwise.
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

// Manifests returns the manifest digests that the verdict covers.
func (v *Verdict) Manifests() []v1alpha1.Digest {
	if v.Ambiguous == "" {
		return v.Digests
	}
	return append(slices.Clone(v.Digests), v.Ambiguous)
}

// readCommand reads the command that ran. Its words come from the spec, if that is still the
// audited one.
func (v *Verdict) readCommand(audit *v1alpha1.MCPServerAudit) {
	audited, server := audit.Status.Audited, audit.Spec.Server
	if audited == nil {
		return
	}
	v.CommandDigest, v.ArgvDigest = audited.CommandDigest, audited.ArgvDigest
	v.Environment = audited.Environment
	v.WorkingDir, v.CodePaths, v.Exercise = audited.WorkingDir, audited.CodePaths, audited.Exercise
	if audited.Exercise == nil && (len(server.Env) > 0 || server.WorkingDir != "") {
		v.Environment = &report.Environment{Names: []string{""}} // unrecorded by an older operator: matches none
	}
	if v1alpha1.CommandDigest(server.Command, server.Args) == v.CommandDigest {
		v.Command, v.Args = server.Command, server.Args
	}
}

// readFindings reads the findings and the exposure, unless they are about another image that
// the kubelet ran instead. Without a count of unsuppressed findings, all count.
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

// readReady determines whether the verdict is renewed. While an audit is suspended, and until
// the next verdict, Ready has other reasons.
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

// readHistory determines whether the last conclusive audit of the same image and spec passed.
// The history keeps no findings: the thresholds are the spec's, unless that changed. Audits
// that could not pull the image are skipped: an outage revokes no pass.
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
