package audit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/controllers/schedule"
	"github.com/mcpaudit/mcpaudit/controllers/verdict"
)

// session is the state that the steps of one reconciliation share.
type session struct {
	audit *v1alpha1.MCPServerAudit
	// now is the time of the whole reconciliation.
	now time.Time

	// observe
	specDigest v1alpha1.Digest
	requested  string
	// respecified is set if the last outcome is for an earlier spec.
	respecified  bool
	pod          *corev1.Pod   // of the audit in progress; nil if there is none
	finishedPods []*corev1.Pod // of finished audits; tidy deletes them
	schedule     *schedule.Schedule
	halted       *halt // why the spec may not be audited; nil if it may

	// decide, or the record of the Pod
	run podspec.Run

	// resolve
	image    string
	platform string // of the image; empty if no registry knows it
	command  []string
	secrets  []corev1.Secret
	failure  report.Incomplete // also set by collect
	resolved v1alpha1.Digest   // the digest that was run

	// admit
	slot      string // the name of the Pod that a slot was taken for
	queued    bool   // waits for a slot
	attempted bool   // to create the Pod, which therefore may exist

	// collect
	summary *report.Summary
	report  *report.Report
	// unstored is set once the API server has refused the report for good.
	unstored bool

	// compare
	known  *report.Manifest // of the baseline; nil if it is not kept
	change string           // how the manifest differs from it

	// judge
	outcome verdict.Outcome
	// started is set when the audit Pod is created; waited is the time spent in the previous
	// state.
	started bool
	waited  time.Duration
	// decided means that the outcome is in the status, resting that no audit is due.
	decided, resting bool
	// next is the time until the next decision; 0 for never.
	next time.Duration

	notes []note
}

// note is an event to send after the status write.
type note struct{ kind, reason, message string }

func (s *session) notice(kind, reason, message string) {
	s.notes = append(s.notes, note{kind, reason, message})
}

// conclude returns when to requeue the audit. An error is shown in the current state, whose
// deadline keeps running.
func (s *session) conclude(out outcome, err error) ctrl.Result {
	switch {
	case err != nil:
		s.progress(cmp.Or(s.state(), v1alpha1.ReasonPending), fmt.Sprintf("The audit cannot go on, and is tried again: %s.", err))
		return ctrl.Result{}
	case out.kind == waits:
		return ctrl.Result{RequeueAfter: out.after}
	}
	return ctrl.Result{RequeueAfter: s.next}
}

// state returns the reason of Auditing while an audit of this spec is in progress, else "".
func (s *session) state() string {
	if began := s.since(); began.IsZero() {
		return ""
	}
	return conditions.Reason(s.audit, v1alpha1.ConditionAuditing)
}

// progress sets the state of the audit in progress. Ready shows it only while there is no
// verdict.
func (s *session) progress(reason, message string) {
	first := s.audit.Status.Verdict == ""
	if first || s.hidden() {
		s.set(v1alpha1.ConditionReady, conditions.Unknown(reason, message))
		s.set(v1alpha1.ConditionReconciling, conditions.True(reason, message))
		conditions.Remove(s.audit, v1alpha1.ConditionStalled)
		s.audit.Status.Phase = v1alpha1.PhasePending
		if reason == v1alpha1.ReasonRunning || reason == v1alpha1.ReasonCollecting {
			s.audit.Status.Phase = v1alpha1.PhaseRunning
		}
	}
	if first {
		for _, condition := range []string{v1alpha1.ConditionAudited, v1alpha1.ConditionScopeConformant, v1alpha1.ConditionManifestStable} {
			s.set(condition, conditions.Unknown(v1alpha1.ReasonNotYetAudited, "The first audit is in progress."))
		}
	}
	if s.state() != reason {
		conditions.Remove(s.audit, v1alpha1.ConditionAuditing) // each state has its own deadline
	}
	s.set(v1alpha1.ConditionAuditing, conditions.True(reason, message))
}

// hadPod reports whether the status names a Pod of the audit in progress.
func (s *session) hadPod() bool {
	state := s.state()
	return state == v1alpha1.ReasonRunning || state == v1alpha1.ReasonCollecting
}

// hold reports that an audit is due but suspended.
func (s *session) hold() {
	const message = "An audit is due and suspended (spec.suspend is true). Set spec.suspend to false to have the server audited."
	s.set(v1alpha1.ConditionReady, conditions.False(v1alpha1.ReasonSuspended, message))
	s.set(v1alpha1.ConditionStalled, conditions.True(v1alpha1.ReasonSuspended, message))
	s.audit.Status.Phase = v1alpha1.PhaseSuspended
}

// hidden reports whether Ready shows a state instead of the verdict: a suspended audit, or one
// since then that will restore the verdict.
func (s *session) hidden() bool {
	switch reason := conditions.Reason(s.audit, v1alpha1.ConditionReady); reason {
	case v1alpha1.ReasonSuspended, v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonNotAllowed:
		return true
	default:
		return slices.Contains(v1alpha1.ReasonsOf(v1alpha1.ConditionReady).Unknown, reason)
	}
}

// idle reports that no audit is in progress and the verdict is for the current generation.
func (s *session) idle() {
	s.stop()
	conditions.Confirm(s.audit)
}

// stop reports that no audit is in progress and the generation was observed. Conditions for an
// earlier generation do not apply to this one.
func (s *session) stop() {
	conditions.Remove(s.audit, v1alpha1.ConditionReconciling)
	s.set(v1alpha1.ConditionAuditing, conditions.False(v1alpha1.ReasonIdle, "No audit is in progress."))
	s.audit.Status.ObservedGeneration = s.audit.Generation
}

func (s *session) set(conditionType string, c conditions.Condition) {
	conditions.Set(s.audit, conditionType, c, s.now)
}

// inState returns how long the audit has been in its state; 0 if none is in progress.
func (s *session) inState() time.Duration {
	if began := s.since(); !began.IsZero() {
		return s.age(began.Time)
	}
	return 0
}

// age returns the time since an event, at least 0.
func (s *session) age(since time.Time) time.Duration { return max(s.now.Sub(since), 0) }

// since returns the start of the audit in progress; zero if there is none.
func (s *session) since() metav1.Time {
	c := conditions.Find(s.audit, v1alpha1.ConditionAuditing)
	if c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != s.audit.Generation {
		return metav1.Time{}
	}
	return c.LastTransitionTime
}
