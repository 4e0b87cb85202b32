package gate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

var last = metav1.NewTime(now.Add(-time.Hour))

// auditOf makes an audit that passed. conditions are by type: "True Passed".
func auditOf(change ...func(*v1alpha1.MCPServerAudit)) *v1alpha1.MCPServerAudit {
	a := &v1alpha1.MCPServerAudit{}
	a.Namespace, a.Name = "team", "notes"
	a.Spec.Server.Image, a.Spec.FailOn = tag, "High"
	digest, _ := trigger.SpecDigest(a.Spec)
	a.Status = v1alpha1.MCPServerAuditStatus{
		Verdict: "Pass", ImageDigest: index, LastAuditTime: &last, Findings: &v1alpha1.FindingCounts{},
		Trigger: &v1alpha1.Trigger{SpecDigest: digest},
		Audited: &v1alpha1.AuditedServer{
			Image: tag, Digests: []v1alpha1.Digest{index, platform}, ImageID: config, Platform: "linux/amd64",
			CommandDigest: v1alpha1.CommandDigest(nil, nil), ArgvDigest: v1alpha1.CommandDigest([]string{"/server"}, nil),
			Unsuppressed: &v1alpha1.FindingCounts{},
		},
	}
	says("Ready", "True", "Passed")(a)
	says("Audited", "True", "Completed")(a)
	says("ManifestStable", "True", "MatchesBaseline")(a)
	says("Auditing", "False", "Idle")(a)
	for _, c := range change {
		c(a)
	}
	return a
}

func says(condition string, status metav1.ConditionStatus, reason string) func(*v1alpha1.MCPServerAudit) {
	return func(a *v1alpha1.MCPServerAudit) {
		for i := range a.Status.Conditions {
			if a.Status.Conditions[i].Type == condition {
				a.Status.Conditions[i].Status, a.Status.Conditions[i].Reason = status, reason
				return
			}
		}
		a.Status.Conditions = append(a.Status.Conditions, metav1.Condition{Type: condition, Status: status, Reason: reason})
	}
}

func status(change func(*v1alpha1.MCPServerAuditStatus)) func(*v1alpha1.MCPServerAudit) {
	return func(a *v1alpha1.MCPServerAudit) { change(&a.Status) }
}

func found(all, unsuppressed v1alpha1.FindingCounts) func(*v1alpha1.MCPServerAudit) {
	return status(func(s *v1alpha1.MCPServerAuditStatus) { s.Findings, s.Audited.Unsuppressed = &all, &unsuppressed })
}

func TestReadVerdict(t *testing.T) {
	high := v1alpha1.FindingCounts{High: 1, Suppressed: 1}
	both := func(changes ...func(*v1alpha1.MCPServerAudit)) []func(*v1alpha1.MCPServerAudit) { return changes }
	for _, test := range []struct {
		name   string
		change []func(*v1alpha1.MCPServerAudit)
		want   func(*gate.Verdict)
	}{
		{"passed", nil, func(*gate.Verdict) {}},
		{"passed, while it is audited again", both(says("Auditing", "True", "Running")), func(*gate.Verdict) {}},
		{"failed", both(says("Ready", "False", "FindingsAboveThreshold"), found(v1alpha1.FindingCounts{High: 1}, v1alpha1.FindingCounts{High: 1})), func(v *gate.Verdict) {
			v.Reason, v.Findings, v.Unsuppressed = "FindingsAboveThreshold", v1alpha1.FindingCounts{High: 1}, v1alpha1.FindingCounts{High: 1}
		}},
		{"passed by a suppression", both(found(high, v1alpha1.FindingCounts{})), func(v *gate.Verdict) { v.Findings = high }},
		{"nobody says what suppressions left", both(status(func(s *v1alpha1.MCPServerAuditStatus) { s.Findings, s.Audited.Unsuppressed = &high, nil })), func(v *gate.Verdict) {
			v.Findings, v.Unsuppressed = high, high
		}},
		{"drifted", both(says("Ready", "False", "ManifestDrifted"), says("ManifestStable", "False", "ManifestDrifted")), func(v *gate.Verdict) { v.Reason, v.Drifted = "ManifestDrifted", true }},
		{"not the pinned manifest, with findings", both(says("Ready", "False", "FindingsAboveThreshold"), says("ManifestStable", "False", "BaselineMismatch"), found(high, high)), func(v *gate.Verdict) {
			v.Reason, v.Drifted, v.Findings, v.Unsuppressed = "FindingsAboveThreshold", true, high, high
		}},
		{"no baseline", both(says("ManifestStable", "Unknown", "NoBaseline")), func(*gate.Verdict) {}},
		{"inconclusive", both(says("Ready", "False", "AuditInconclusive"), says("Audited", "False", "Timeout")), func(v *gate.Verdict) { v.Complete, v.Reason = false, "Timeout" }},
		{"failed before it was cut short", both(says("Ready", "False", "FindingsAboveThreshold"), says("Audited", "False", "Timeout"), found(high, high)), func(v *gate.Verdict) {
			v.Complete, v.Reason, v.Findings, v.Unsuppressed = false, "Timeout", high, high
		}},
		{"another image was run", both(says("Ready", "False", "FindingsAboveThreshold"), says("Audited", "False", "ImageMismatch"), found(high, high)), func(v *gate.Verdict) {
			v.Complete, v.Reason = false, "ImageMismatch" // what was found is not about this one
		}},
		{"the report was lost", both(says("Ready", "False", "AuditInconclusive"), says("Audited", "False", "ReportLost"), status(func(s *v1alpha1.MCPServerAuditStatus) { s.Findings = nil })), func(v *gate.Verdict) {
			v.Complete, v.Reason = false, "ReportLost"
		}},
		{"nothing was counted", both(status(func(s *v1alpha1.MCPServerAuditStatus) { s.Findings = nil })), func(v *gate.Verdict) { v.Complete, v.Reason = false, "Completed" }},
		{"suspended with an old pass", both(says("Ready", "False", "Suspended")), func(v *gate.Verdict) { v.Halted, v.Reason = true, "Suspended" }},
		{"not allowed any more, with an old pass", both(says("Ready", "False", "NotAllowed")), func(v *gate.Verdict) { v.Halted, v.Reason = true, "NotAllowed" }},
		{"invalid with an old pass", both(says("Ready", "False", "InvalidSpec")), func(v *gate.Verdict) { v.Halted, v.Reason = true, "InvalidSpec" }},
		{"no more suspended, and not audited yet", both(says("Ready", "Unknown", "Running")), func(v *gate.Verdict) { v.Halted, v.Reason = true, "Running" }},
		{"suspended, and drifted", both(says("Ready", "False", "Suspended"), says("ManifestStable", "False", "ManifestDrifted")), func(v *gate.Verdict) {
			v.Halted, v.Drifted, v.Reason = true, true, "Suspended"
		}},
		{"no Ready", both(func(a *v1alpha1.MCPServerAudit) { a.Status.Conditions = a.Status.Conditions[1:] }), func(v *gate.Verdict) { v.Halted, v.Reason = true, "" }},
		{"the image could not be had", both(says("Ready", "False", "ImageUnresolvable"), says("Audited", "False", "ImagePullFailed"), status(func(s *v1alpha1.MCPServerAuditStatus) {
			s.ImageDigest, s.Findings, s.Audited.Unsuppressed = "", nil, nil
		})), func(v *gate.Verdict) { v.Complete, v.Reason = false, "ImagePullFailed" }},
		{"the spec has another image and command by now", both(func(a *v1alpha1.MCPServerAudit) {
			a.Spec.Server.Image, a.Spec.Server.Command = "other", []string{"other"}
		}), func(*gate.Verdict) {}},
		{"an image for one platform", both(status(func(s *v1alpha1.MCPServerAuditStatus) { s.Audited.Platform = "" })), func(v *gate.Verdict) { v.Architecture = "" }},
		{"a variant", both(status(func(s *v1alpha1.MCPServerAuditStatus) { s.Audited.Platform = "linux/arm/v7" })), func(v *gate.Verdict) { v.Architecture = "arm" }},
		{"an earlier version's: only the digest is known", both(status(func(s *v1alpha1.MCPServerAuditStatus) { s.Audited = nil })), func(v *gate.Verdict) {
			v.Image, v.Digests, v.Ambiguous, v.ImageID, v.Architecture, v.CommandDigest, v.ArgvDigest = "", nil, index, "", "", "", ""
		}},
		{"an image that names its digest and could not be had", both(says("Audited", "False", "ImagePullFailed"), status(func(s *v1alpha1.MCPServerAuditStatus) {
			s.ImageDigest, s.Audited.Image, s.Audited.Digests, s.Audited.ImageID = "", pinned, nil, ""
		})), func(v *gate.Verdict) {
			v.Complete, v.Reason, v.Image, v.Digests, v.Ambiguous, v.ImageID = false, "ImagePullFailed", pinned, nil, index, ""
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := &gate.Verdict{
				Audit: types.NamespacedName{Namespace: "team", Name: "notes"}, Image: tag, Digests: []v1alpha1.Digest{index, platform}, ImageID: config, Architecture: "amd64",
				CommandDigest: v1alpha1.CommandDigest(nil, nil), ArgvDigest: v1alpha1.CommandDigest([]string{"/server"}, nil),
				Complete: true, Reason: "Passed", Time: last.Time,
			}
			test.want(want)
			if diff := cmp.Diff(want, gate.ReadVerdict(auditOf(test.change...))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadVerdictOfNothing(t *testing.T) {
	for name, audit := range map[string]*v1alpha1.MCPServerAudit{
		"new": {},
		"the first audit runs": auditOf(says("Ready", "Unknown", "Running"), says("Audited", "Unknown", "NotYetAudited"), status(func(s *v1alpha1.MCPServerAuditStatus) {
			s.LastAuditTime, s.Audited, s.ImageDigest = nil, nil, ""
		})),
		"the conditions are gone": auditOf(status(func(s *v1alpha1.MCPServerAuditStatus) { s.Conditions = nil })),
		"a server that runs elsewhere": auditOf(says("Audited", "False", "NotTraced"), status(func(s *v1alpha1.MCPServerAuditStatus) {
			s.Audited, s.ImageDigest = nil, ""
		})),
		"the verdict alone": {Status: v1alpha1.MCPServerAuditStatus{Verdict: "Pass", ImageDigest: index, LastAuditTime: &last}},
	} {
		if v := gate.ReadVerdict(audit); v != nil {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// The words of the command are those that were audited, or none.
func TestReadVerdictCommand(t *testing.T) {
	own := func(a *v1alpha1.MCPServerAudit) {
		a.Spec.Server.Command, a.Spec.Server.Args = []string{"node"}, []string{"server.js"}
	}
	audited := func(a *v1alpha1.MCPServerAudit) {
		a.Status.Audited.CommandDigest = v1alpha1.CommandDigest([]string{"node"}, []string{"server.js"})
	}
	if v := gate.ReadVerdict(auditOf(own, audited)); !cmp.Equal(v.Command, []string{"node"}) || !cmp.Equal(v.Args, []string{"server.js"}) {
		t.Errorf("%v %v", v.Command, v.Args)
	}
	for name, v := range map[string]*gate.Verdict{"before": gate.ReadVerdict(auditOf(own)), "after": gate.ReadVerdict(auditOf(audited))} {
		if v.Command != nil || v.Args != nil {
			t.Errorf("%s the change of the spec: %v %v", name, v.Command, v.Args)
		}
	}
}

func TestReadVerdictHistory(t *testing.T) {
	at := metav1.NewTime(now.Add(-3 * time.Hour))
	entry := func(verdict v1alpha1.Verdict, why v1alpha1.TriggerReason) v1alpha1.HistoryEntry {
		return v1alpha1.HistoryEntry{Time: at, Verdict: verdict, Trigger: why, ImageDigest: index}
	}
	inconclusive, pass, fail := entry("Inconclusive", "ScheduleDue"), entry("Pass", "ScheduleDue"), entry("Fail", "ScheduleDue")
	other := pass
	other.ImageDigest = digest(9)
	unknown := pass
	unknown.ImageDigest = ""
	suppress := func(a *v1alpha1.MCPServerAudit) {
		a.Spec.Suppressions = []report.Suppression{{Rule: "MCPA-EGRESS-001"}}
	}
	respecified := func(a *v1alpha1.MCPServerAudit) { a.Spec.FailOn = "Low" }
	rerun := func(a *v1alpha1.MCPServerAudit) { a.Status.Trigger.SpecDigest, _ = trigger.SpecDigest(a.Spec) }
	for _, test := range []struct {
		name        string
		history     []v1alpha1.HistoryEntry
		change      []func(*v1alpha1.MCPServerAudit)
		passed      bool
		failOn      v1alpha1.FailOn
		suppressing bool
	}{
		{name: "passed before", history: []v1alpha1.HistoryEntry{inconclusive, inconclusive, pass, fail}, passed: true, failOn: "High"},
		{name: "passed by another measure", history: []v1alpha1.HistoryEntry{inconclusive, pass}, change: []func(*v1alpha1.MCPServerAudit){respecified, rerun}, passed: true, failOn: "Low"},
		{name: "passed with suppressions", history: []v1alpha1.HistoryEntry{inconclusive, pass}, change: []func(*v1alpha1.MCPServerAudit){suppress, rerun}, passed: true, failOn: "High", suppressing: true},
		{name: "the spec says another measure by now", history: []v1alpha1.HistoryEntry{inconclusive, pass}, change: []func(*v1alpha1.MCPServerAudit){respecified}},
		{name: "failed before", history: []v1alpha1.HistoryEntry{inconclusive, fail, pass}},
		{name: "another image passed", history: []v1alpha1.HistoryEntry{inconclusive, other, pass}},
		{name: "it is not known what passed", history: []v1alpha1.HistoryEntry{inconclusive, unknown}},
		{name: "another spec passed", history: []v1alpha1.HistoryEntry{inconclusive, entry("Inconclusive", "SpecChanged"), pass}},
		{name: "held to another baseline", history: []v1alpha1.HistoryEntry{entry("Inconclusive", "BaselineChanged"), pass}},
		{name: "never", history: []v1alpha1.HistoryEntry{inconclusive}},
		{name: "no history"},
		{name: "no trigger", history: []v1alpha1.HistoryEntry{inconclusive, pass}, change: []func(*v1alpha1.MCPServerAudit){status(func(s *v1alpha1.MCPServerAuditStatus) { s.Trigger = nil })}},
		{name: "the image could not be had", history: []v1alpha1.HistoryEntry{inconclusive, pass}, change: []func(*v1alpha1.MCPServerAudit){status(func(s *v1alpha1.MCPServerAuditStatus) { s.ImageDigest = "" })}, passed: true, failOn: "High"},
	} {
		t.Run(test.name, func(t *testing.T) {
			audit := auditOf(append(test.change, says("Audited", "False", "NodeLost"), func(a *v1alpha1.MCPServerAudit) { a.Status.History = test.history })...)
			v := gate.ReadVerdict(audit)
			if v.Passed.IsZero() == test.passed || test.passed && !v.Passed.Equal(at.Time) || v.PassedFailOn != test.failOn || v.PassedSuppressing != test.suppressing {
				t.Errorf("passed %s by %q, suppressing %t", v.Passed, v.PassedFailOn, v.PassedSuppressing)
			}
		})
	}
}
