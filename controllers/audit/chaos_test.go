package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
)

var away = func(call) error { return errors.New("connect: connection refused") }

// faults are all that may happen to a call, those first that are no answer.
var faults = []fault{
	{name: "is applied and its answer lost", answer: func(call) error { return context.DeadlineExceeded }, applied: true, calls: 1},
	{name: "is killed before", calls: 1},
	{name: "is killed after", applied: true, calls: 1},
	{name: "finds the API server away for a while", answer: away, calls: 12},
	{name: "does not arrive", answer: away, calls: 1},
	{name: "is applied, and then the API server is away", answer: away, applied: true, calls: 3},
	{name: "times out (504)", calls: 1, answer: answers(func(_ schema.GroupResource, _ string) *apierrors.StatusError {
		return apierrors.NewTimeoutError("etcd", 1)
	})},
	{name: "is too many (429)", calls: 1, answer: answers(func(_ schema.GroupResource, _ string) *apierrors.StatusError {
		return apierrors.NewTooManyRequests("slow down", 1)
	})},
	{name: "breaks the API server (500)", calls: 1, answer: answers(func(schema.GroupResource, string) *apierrors.StatusError {
		return apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
	})},
	{name: "is invalid (422)", calls: 1, answer: answers(func(_ schema.GroupResource, name string) *apierrors.StatusError {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, name, nil)
	})},
	{name: "is forbidden (403)", calls: 1, answer: answers(func(r schema.GroupResource, name string) *apierrors.StatusError {
		return apierrors.NewForbidden(r, name, errors.New("no"))
	})},
	{name: "conflicts (409)", calls: 1, answer: func(c call) error {
		if c.verb == "create" {
			return apierrors.NewAlreadyExists(schema.GroupResource{Resource: c.kind}, "x")
		}
		return apierrors.NewConflict(schema.GroupResource{Resource: c.kind}, "x", errors.New("changed"))
	}},
}

// observed is the report of a server that advertises one tool in a version, and
// leaks if it has findings.
func observed(version string, findings ...report.Finding) report.Report {
	digest := "sha256:" + strings.Repeat(version, 64)
	r := report.Report{
		Verdict: report.VerdictPass, Reason: report.ReasonPassed, Message: "no findings", FailOn: report.SeverityHigh,
		StartTime: report.At(start), EndTime: report.At(start), ManifestDigest: digest, Findings: findings, Network: report.NetworkSinkhole,
		Manifest: report.Manifest{Digest: digest, Tools: []report.Item{{Name: "format_note", Digest: digest}}},
		Coverage: report.Coverage{Tools: report.Exercised{Listed: 1, Called: 1, Accepted: 1}},
	}
	if len(findings) > 0 {
		r.Verdict, r.Reason = report.VerdictFail, report.ReasonFindingsAboveThreshold
	}
	return r
}

var stolen = report.Finding{
	Rule: "MCPA-READ-001", Severity: report.SeverityHigh, Message: "Tool format_note read ~/.ssh/id_rsa",
	Capability: report.Capability{Kind: report.CapabilityTool, Name: "format_note"}, Evidence: []report.Evidence{{Time: report.At(start), Detail: "openat"}},
}

// story is a whole audit, or a second one, with its true end.
type story struct {
	// before happens to the object earlier, without faults.
	before  func(*world)
	outcome report.Report
	// request is the annotation that the audit answers.
	request string

	verdict v1alpha1.Verdict
	ready   string
	event   string
	runs    int
	reports int
	// rough: only the faults of the connection and of the manager happen to it.
	rough bool
}

var stories = map[string]story{
	"a first audit that passes": {outcome: observed("1"), verdict: "Pass", ready: "Passed", event: "AuditPassed: ", runs: 1, reports: 1, rough: true},
	"a first audit that fails":  {outcome: observed("1", stolen), verdict: "Fail", ready: "FindingsAboveThreshold", event: "AuditFailed: ", runs: 1, reports: 1},
	"a first audit that sees nothing": {
		outcome: func() report.Report {
			r := observed("1")
			r.Verdict, r.Reason, r.Message = report.VerdictInconclusive, report.ReasonTracerLost, "the tracer ended"
			return r
		}(),
		verdict: "Inconclusive", ready: "AuditInconclusive", event: "TracerLost: ", runs: 1, reports: 1, rough: true,
	},
	"a rug pull": {
		before: func(w *world) {
			w.outcome = observed("1")
			w.audited("")
			audit := w.audit()
			audit.Annotations = map[string]string{v1alpha1.RequestedAtAnnotation: "again"}
			audit.Spec.HistoryLimit = new(int32(3))
			if err := w.api.Update(w.t.Context(), audit); err != nil {
				w.t.Fatal(err)
			}
		},
		outcome: observed("2"), request: "again",
		verdict: "Fail", ready: "ManifestDrifted", event: "AuditFailed: ", runs: 2, reports: 2,
	},
}

// TestChaos fails every call that an audit makes in every way, one at a time.
// However it fails, the audit ends with its true verdict, once, and leaves
// nothing behind. Without the build tag chaos, only those ways are tried that
// have found the most.
func TestChaos(t *testing.T) {
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := story.play(t, fault{}, 0)
			t.Logf("%d calls without a fault: %v", len(whole), whole)
			if t.Failed() {
				return
			}
			all := faults
			switch {
			case !thorough && story.rough:
				return
			case !thorough:
				all = faults[:4]
			case story.rough:
				all = faults[:6]
			}
			for _, fault := range all {
				n := 1
				for ; ; n++ {
					if made := story.play(t, fault, n); len(made) < n {
						break // no call was left to fail
					}
					if t.Failed() {
						return
					}
				}
				t.Logf("every one of %d calls %s", n-1, fault.name)
			}
		})
	}
}

// play lets the story happen with a fault at one of its calls, and returns the
// calls that it made.
func (s story) play(t *testing.T, fault fault, at int) []call {
	t.Helper()
	w := newWorld(t)
	if s.before != nil {
		s.before(w)
	}
	w.calls, w.events, w.fault, w.at = nil, nil, fault, at
	w.outcome = s.outcome
	after := w.audited(s.request)
	made := w.calls[:len(w.calls)-len(after)]
	for _, problem := range s.problems(w, after) {
		hit := call{}
		if at > 0 && at <= len(made) {
			hit = made[at-1]
		}
		t.Errorf("call %d (%s) %s: %s\nevents: %q\ncalls: %v", at, hit, fault.name, problem, w.events, made)
	}
	return made
}

// refusedForGood reports whether a fault is one that the manager has to believe: a
// Pod that is invalid will not be accepted later.
func refusedForGood(w *world) bool {
	if w.fault.name != "is invalid (422)" || w.at > len(w.calls) {
		return false
	}
	hit := w.calls[w.at-1]
	return hit == call{"create", "Pod"} || hit == call{"create", "Secret"}
}

// problems returns how the end of the story differs from the true one.
func (s story) problems(w *world, after []call) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	want := s
	if w.at > 0 && refusedForGood(w) {
		want.verdict, want.ready, want.event = "Inconclusive", "AuditInconclusive", "SandboxFailed: "
		want.runs, want.reports = s.runs-1, s.reports-1
	}
	status := w.audit().Status
	if ready := conditions.Reason(w.audit(), v1alpha1.ConditionReady); status.Verdict != want.verdict || ready != want.ready {
		report("verdict %s, Ready %s, Audited %+v", status.Verdict, ready, conditions.Find(w.audit(), v1alpha1.ConditionAudited))
	}
	if len(w.created) != want.runs {
		report("%d Pods were created, want %d", len(w.created), want.runs)
	}
	if events := strings.Count("\n"+strings.Join(w.events, "\n"), "\n"+want.event); events == 0 {
		report("no event %s", want.event)
	}
	stored := list(w, &v1alpha1.MCPAuditReportList{}, w.key.Namespace).Items
	if len(stored) != want.reports {
		report("%d reports, want %d", len(stored), want.reports)
	}
	if want.reports == s.reports {
		i := slices.IndexFunc(stored, func(r v1alpha1.MCPAuditReport) bool {
			return status.ReportRef != nil && r.Name == status.ReportRef.Name && r.Name == status.Trigger.Run
		})
		if i < 0 || stored[i].Spec.Verdict != status.Verdict {
			report("the status names %+v, which is not its report", status.ReportRef)
		}
	}
	audited := v1alpha1.AuditedServer{
		Image: "registry.example/notes:v1", Digests: []v1alpha1.Digest{v1alpha1.Digest("sha256:" + strings.Repeat("a", 64))}, Platform: "linux/amd64",
		CommandDigest: v1alpha1.CommandDigest(nil, nil), ArgvDigest: v1alpha1.CommandDigest([]string{"/notes"}, nil), WorkingDir: "/",
	}
	if want.reports == s.reports {
		audited.Unsuppressed = &v1alpha1.FindingCounts{High: int32(len(s.outcome.Findings))}
	}
	if diff := cmp.Diff(&audited, status.Audited, notExercise); diff != "" {
		report("what was audited: %s", diff)
	}
	seen := map[string]int{}
	for _, entry := range status.History {
		seen[entry.Run]++
	}
	if len(seen) != len(status.History) || seen[status.Trigger.Run] != 1 {
		report("the history has runs %v", seen)
	}
	left := len(list(w, &corev1.PodList{}, "mcpaudit-runs").Items) + len(list(w, &corev1.SecretList{}, "mcpaudit-runs").Items)
	if left > 0 {
		report("%d Pods and Secrets are left in the run namespace", left)
	}
	for _, c := range after {
		if c.writes() {
			report("a decided audit makes a write: %s", c)
		}
	}
	if c := conditions.Find(w.audit(), v1alpha1.ConditionAuditing); c == nil || c.Status != metav1.ConditionFalse {
		report("Auditing is %+v", c)
	}
	return problems
}
