package audit

import (
	"errors"
	"fmt"
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

// session holds what the steps of one reconciliation hand on to each other.
type session struct {
	audit *v1alpha1.MCPServerAudit
	// now is the time of the whole reconciliation.
	now time.Time

	// observe
	specDigest v1alpha1.Digest
	requested  string
	// respecified: the last outcome is of an earlier spec, if there is one.
	respecified bool
	pod         *corev1.Pod   // of the audit in progress; nil if there is none
	spent       []*corev1.Pod // of audits that are over; settle deletes them
	schedule    *schedule.Schedule
	halted      *halt // why no audit is made of the spec as it is; nil if one may be

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
	attempted bool   // to create the Pod: it exists, or may exist

	// collect
	summary *report.Summary
	report  *report.Report
	// unstored is set once the API server has refused the report for good.
	unstored bool

	// compare
	known  *report.Manifest // of the baseline; nil if it is not kept
	change string           // how the manifest differs from it, in words

	// judge
	outcome verdict.Outcome
	// started is set once the audit Pod is created.
	started bool
	// decided is set once the outcome is in the status, resting if none is due.
	decided, resting bool
	// next is how long it takes until there is something to decide; 0 for never.
	next time.Duration

	notes []note
}

// note is an event that is sent once the status is written.
type note struct{ kind, reason, message string }

func (s *session) notice(kind, reason, message string) {
	s.notes = append(s.notes, note{kind, reason, message})
}

// fail ends the audit without a report.
func (s *session) fail(reason report.Reason, format string, args ...any) {
	s.failure = report.Incomplete{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// failed reports whether the remaining steps have nothing to run or to collect.
func (s *session) failed() bool { return s.failure.Reason != "" }

// conclude turns the end of the steps into what the work queue does next.
func (s *session) conclude(err error) (ctrl.Result, error) {
	var wait waiting
	switch {
	case err == nil, errors.Is(err, errRest):
		return ctrl.Result{RequeueAfter: s.next}, nil
	case errors.As(err, &wait):
		return ctrl.Result{RequeueAfter: wait.after}, nil
	case errors.Is(err, errStale):
		return ctrl.Result{}, err
	}
	reason := v1alpha1.ReasonQueued
	switch {
	case s.pod != nil && conditions.Reason(s.audit, v1alpha1.ConditionAuditing) == v1alpha1.ReasonCollecting:
		reason = v1alpha1.ReasonCollecting // its deadline goes on
	case s.pod != nil:
		reason = v1alpha1.ReasonRunning
	}
	s.progress(reason, fmt.Sprintf("The audit cannot go on, and is tried again: %s.", err))
	return ctrl.Result{}, err
}

// progress says what the audit in progress is doing. Only an object without a
// verdict shows it in Ready.
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
	if c := conditions.Find(s.audit, v1alpha1.ConditionAuditing); c != nil && (c.ObservedGeneration != s.audit.Generation || leavesLine(c, message)) {
		// Deadlines count from the transition; another spec has its own, and what
		// was waited for a slot does not count.
		conditions.Remove(s.audit, v1alpha1.ConditionAuditing)
	}
	s.set(v1alpha1.ConditionAuditing, conditions.True(reason, message))
}

// collecting says that the report is on its way, and tells for how long it has
// been: the condition keeps the time, across restarts of the manager.
func (s *session) collecting(message string) time.Duration {
	if conditions.Reason(s.audit, v1alpha1.ConditionAuditing) != v1alpha1.ReasonCollecting {
		conditions.Remove(s.audit, v1alpha1.ConditionAuditing)
	}
	s.progress(v1alpha1.ReasonCollecting, message)
	return s.age(s.since().Time)
}

// hadPod reports whether the status knows of a Pod of the audit in progress.
func (s *session) hadPod() bool {
	began, reason := s.since(), conditions.Reason(s.audit, v1alpha1.ConditionAuditing)
	return !began.IsZero() && (reason == v1alpha1.ReasonRunning || reason == v1alpha1.ReasonCollecting)
}

// hold says that an audit is due but suspended.
func (s *session) hold() {
	const message = "An audit is due, and spec.suspend holds it back. Set it to false to have the server audited."
	s.set(v1alpha1.ConditionReady, conditions.False(v1alpha1.ReasonSuspended, message))
	s.set(v1alpha1.ConditionStalled, conditions.True(v1alpha1.ReasonSuspended, message))
	s.audit.Status.Phase = v1alpha1.PhaseSuspended
}

// hidden reports whether Ready shows a state other than the verdict: an audit that is held
// back, or since then one that will give the verdict again.
func (s *session) hidden() bool {
	switch conditions.Reason(s.audit, v1alpha1.ConditionReady) {
	case v1alpha1.ReasonSuspended, v1alpha1.ReasonInvalidSpec, v1alpha1.ReasonNotAllowed,
		v1alpha1.ReasonPending, v1alpha1.ReasonQueued, v1alpha1.ReasonRunning, v1alpha1.ReasonCollecting:
		return true
	}
	return false
}

// idle says that nothing is in progress, and that the verdict is about the current
// generation.
func (s *session) idle() {
	s.stop()
	conditions.Confirm(s.audit)
}

// stop says that nothing is in progress, and that the generation was seen. What the
// conditions say of an earlier one, they do not say of this one.
func (s *session) stop() {
	conditions.Remove(s.audit, v1alpha1.ConditionReconciling)
	s.set(v1alpha1.ConditionAuditing, conditions.False(v1alpha1.ReasonIdle, "No audit is in progress."))
	s.audit.Status.ObservedGeneration = s.audit.Generation
}

// set writes a condition.
func (s *session) set(conditionType string, c conditions.Condition) {
	conditions.Set(s.audit, conditionType, c, s.now)
}

// age returns how long ago something began, at least 0.
func (s *session) age(since time.Time) time.Duration { return max(s.now.Sub(since), 0) }

// since returns when the audit in progress began; zero if it has not.
func (s *session) since() metav1.Time {
	c := conditions.Find(s.audit, v1alpha1.ConditionAuditing)
	if c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != s.audit.Generation {
		return metav1.Time{}
	}
	return c.LastTransitionTime
}
