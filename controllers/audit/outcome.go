package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// An outcome says how a reconciliation continues after a step without an error. Errors are
// retried with back-off.
type outcome struct {
	kind kind
	// after is when to requeue; 0 if a watch or the slot queue wakes the audit.
	after time.Duration
}

type kind int

const (
	proceeds kind = iota // with the next step
	rests                // nothing to do before session.next
	waits                // something else must happen first, as the conditions say
	isStale              // the cache is stale: do not write decisions based on it
)

var (
	proceed = outcome{}
	rest    = outcome{kind: rests}
	stale   = outcome{kind: isStale}
)

func wait(after time.Duration) outcome { return outcome{kind: waits, after: after} }

// staleAfter is the requeue interval for a stale cache.
const staleAfter = time.Second

// A step advances a session. It is skipped if its due func returns false.
type step struct {
	name string
	take func(context.Context, *session) (outcome, error)
	due  func(*session) bool
}

// advance runs the steps in order until one does not proceed.
func (r *Reconciler) advance(ctx context.Context, s *session) (outcome, error) {
	for _, step := range []step{
		{"observe", r.observe, nil},
		{"decide", r.decide, (*session).unbegun},
		{"find", r.find, (*session).vanished},
		{"resolve", r.resolve, (*session).unbegun},
		{"admit", r.admit, (*session).unbegun},
		{"ensure", r.ensure, (*session).unbegun},
		{"collect", r.collect, (*session).begun},
		{"compare", r.compare, (*session).reported},
		{"judge", r.judge, nil},
		{"publish", r.publish, nil},
	} {
		if step.due != nil && !step.due(s) {
			continue
		}
		out, err := step.take(ctx, s)
		if err != nil {
			return out, fmt.Errorf("%s: %w", step.name, err)
		}
		if out.kind != proceeds {
			return out, nil
		}
	}
	return rest, nil
}

// unbegun reports whether the audit Pod is still to be created.
func (s *session) unbegun() bool { return s.pod == nil && !s.failed() }

// vanished reports whether the Pod that the status names is missing.
func (s *session) vanished() bool { return s.unbegun() && s.hadPod() }

// begun reports whether there is a Pod to collect from.
func (s *session) begun() bool { return s.pod != nil && !s.failed() }

// failed reports whether the audit ends without a report.
func (s *session) failed() bool { return s.failure.Reason != "" }

func (s *session) reported() bool { return s.report != nil }

// fail ends the audit without a report.
func (s *session) fail(reason report.Reason, format string, args ...any) {
	s.failure = report.Incomplete{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
