package audit

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
)

// maxNote is the length limit of an event's note in events.k8s.io.
const maxNote = 1024

// emit reports the new status as events, metrics and logs.
func (r *Reconciler) emit(ctx context.Context, before *v1alpha1.MCPServerAudit, s *session) {
	for _, n := range s.notes {
		r.Events.Eventf(s.audit, nil, n.kind, n.reason, "Audit", "%s", excerpt.Line(n.message, maxNote))
	}
	if s.started {
		r.Metrics.Started(s.waited)
	}
	if s.decided {
		r.Metrics.Decided(string(s.outcome.Verdict), string(s.outcome.Reason), string(s.run.Reason), s.took())
	}
	s.log(log.FromContext(ctx), before)
}

// took returns how long the audit Pod lived; 0 if there was none.
func (s *session) took() time.Duration {
	if s.pod == nil {
		return 0
	}
	return s.age(s.pod.CreationTimestamp.Time)
}

// log writes a line for each state that an audit enters, and none if nothing changed. The
// logger already has the audit's name; this adds the run and its trigger.
func (s *session) log(logger logr.Logger, before *v1alpha1.MCPServerAudit) {
	if s.run.Name != "" {
		logger = logger.WithValues("run", s.run.Name, "trigger", s.run.Reason)
	}
	auditing := conditions.Find(s.audit, v1alpha1.ConditionAuditing)
	switch {
	case s.decided:
		logger.Info("Decided audit", "verdict", s.outcome.Verdict, "reason", s.outcome.Reason, "message", s.outcome.Message,
			"seconds", s.took().Seconds(), "imageDigest", s.resolved)
	case s.started:
		logger.Info("Started audit", "pod", s.pod.Name, "image", s.image, "waitedSeconds", s.waited.Seconds(), "because", s.run.Message)
	case s.held(before):
		logger.Info("Suspended audit", "message", message(s.audit, v1alpha1.ConditionReady))
	case auditing == nil || auditing.Status != metav1.ConditionTrue || auditing.Reason == conditions.Reason(before, v1alpha1.ConditionAuditing):
	case auditing.Reason != v1alpha1.ReasonPending && auditing.Reason != v1alpha1.ReasonRunning:
		logger.Info("Waiting", "reason", auditing.Reason, "message", auditing.Message)
	}
}

// held reports whether spec.suspend has just started to hold back an audit.
func (s *session) held(before *v1alpha1.MCPServerAudit) bool {
	return conditions.Reason(s.audit, v1alpha1.ConditionReady) == v1alpha1.ReasonSuspended &&
		conditions.Reason(before, v1alpha1.ConditionReady) != v1alpha1.ReasonSuspended
}

func message(audit *v1alpha1.MCPServerAudit, condition string) string {
	if c := conditions.Find(audit, condition); c != nil {
		return c.Message
	}
	return ""
}
