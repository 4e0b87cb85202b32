package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// An outcome says how a reconciliation goes on after a step that has met no error. An
// error is tried again with the work queue's back-off.
type outcome struct {
	kind kind
	// after is when to look again; 0 if a watch or the queue of slots wakes the audit.
	after time.Duration
}

type kind int

const (
	proceeds kind = iota // with the next step
	rests                // nothing is to be done before session.next
	waits                // something else has to happen first, which the conditions name
	isStale              // the cache lags behind: what was decided on it is not written
)

var (
	proceed = outcome{}
	rest    = outcome{kind: rests}
	stale   = outcome{kind: isStale}
)

func wait(after time.Duration) outcome { return outcome{kind: waits, after: after} }

// staleAfter is when a stale cache is looked at again.
const staleAfter = time.Second

// A step takes a session further. It is skipped where due, if it has one, says so.
type step struct {
	name string
	take func(context.Context, *session) (outcome, error)
	due  func(*session) bool
}

// advance takes the steps in their order, up to the first that does not proceed.
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

// vanished reports whether the status knows of a Pod of the audit in progress that is not
// there.
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
