package audit

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/schedule"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

func parseSchedule(spec *v1alpha1.Schedule) (*schedule.Schedule, error) {
	if spec == nil {
		return nil, nil
	}
	parsed, err := schedule.Parse(*spec)
	if err != nil {
		return nil, err
	}
	return &parsed, nil
}

// halt is the reason why no audit runs until the spec or the configuration changes.
type halt struct{ reason, message string }

// permit returns the schedule of a spec, or why it may not be audited.
func (r *Reconciler) permit(spec v1alpha1.MCPServerAuditSpec) (*schedule.Schedule, *halt) {
	parsed, err := parseSchedule(spec.Schedule)
	if err != nil {
		_, what, _ := strings.Cut(err.Error(), ": ")
		return nil, &halt{v1alpha1.ReasonInvalidSpec, fmt.Sprintf("No audit is made, and no verdict given, until the spec is corrected: %s.", what)}
	}
	if err := r.Options.Allowed.Check(spec, r.Options.RuntimeClass); err != nil {
		return nil, notAllowed(err)
	}
	return parsed, nil
}

func notAllowed(err error) *halt {
	what := strings.ReplaceAll(err.Error(), "\n", "; ")
	return &halt{v1alpha1.ReasonNotAllowed, fmt.Sprintf("No audit is made, and no verdict given, until the spec or the operator's configuration is changed: %s.", what)}
}

// halt stops until the spec or the configuration changes.
func (s *session) halt(why *halt) {
	s.halted, s.resting = why, true
	s.refuse()
}

// refuse shows the reason. The verdict stays in the status and returns to the conditions with
// the next audit.
func (s *session) refuse() {
	reason, message := s.halted.reason, s.halted.message
	s.set(v1alpha1.ConditionReady, conditions.False(reason, message))
	s.set(v1alpha1.ConditionStalled, conditions.True(reason, message))
	s.audit.Status.Phase = v1alpha1.PhasePending // not the phase of a withdrawn verdict
	s.audit.Status.NextAuditTime = nil
	s.stop()
}

// dueAlready is the requeue interval for what became due during a decision.
const dueAlready = time.Second

// plan records when the next audit is due and requeues for then, or for the next tag check. A
// suspended audit only checks what withdraws its verdict.
func (r *Reconciler) plan(s *session) {
	if s.halted != nil {
		return
	}
	in := r.triggers(s)
	next := trigger.Next(in)
	s.audit.Status.NextAuditTime = nil
	if !next.IsZero() && !s.audit.Spec.Suspend {
		s.audit.Status.NextAuditTime = &metav1.Time{Time: next}
	}
	if _, due := trigger.Due(in); due && !s.audit.Spec.Suspend {
		s.next = dueAlready
		return
	}
	if check := r.nextTagCheck(s); !check.IsZero() && (next.IsZero() || check.Before(next)) {
		next = check
	}
	s.next = 0
	if !next.IsZero() {
		s.next = max(next.Sub(s.now), dueAlready)
	}
}
