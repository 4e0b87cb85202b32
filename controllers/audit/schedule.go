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

// refuse says what of the spec cannot be followed. The verdict stays in the status,
// and comes back into the conditions by another audit.
func (s *session) refuse() {
	_, what, _ := strings.Cut(s.invalid.Error(), ": ")
	message := fmt.Sprintf("No audit is made, and no verdict given, until the spec is corrected: %s.", what)
	s.set(v1alpha1.ConditionReady, conditions.False(v1alpha1.ReasonInvalidSpec, message))
	s.set(v1alpha1.ConditionStalled, conditions.True(v1alpha1.ReasonInvalidSpec, message))
	s.audit.Status.Phase = v1alpha1.PhasePending // and not that of a verdict that is taken back
	s.audit.Status.NextAuditTime = nil
	s.stop()
}

// dueAlready is when to look again at what became due while something else was
// decided.
const dueAlready = time.Second

// plan writes down when the next audit is due by itself, and sees to it that
// somebody looks then, or when the registry is to be asked about the tag. A
// suspended audit is only looked at for what takes its verdict back.
func (r *Reconciler) plan(s *session) {
	if s.invalid != nil {
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
