package audit

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/apierr"
	"github.com/mcpaudit/mcpaudit/controllers/slots"
)

// admission is the reconciler's state about slots, beside the queue.
type admission struct {
	// counted is set once the existing Pods were counted with a live read.
	counting sync.Mutex
	counted  bool
	// refused has the audits whose Pod was refused at the last attempt.
	refused sync.Map
}

// admit takes a slot for the audit Pod or queues for one. It runs after resolve, so an image
// that cannot be resolved blocks no slot. The queue wakes it. Its message omits what changes
// meanwhile, such as the position: every change is a write.
func (r *Reconciler) admit(ctx context.Context, s *session) (outcome, error) {
	if err := r.countOnce(ctx); err != nil {
		return proceed, err
	}
	key := client.ObjectKeyFromObject(s.audit)
	claim := slots.Claim{Key: key, Class: slots.ClassOf(s.run.Reason), Since: s.now}
	began := s.since()
	if !began.IsZero() {
		claim.Since = began.Time
	}
	admitted, err := r.Slots.Admit(s.now, claim, s.run.Name, r.snapshot(ctx))
	switch {
	case err != nil:
		return proceed, err
	case admitted:
		s.slot = s.run.Name
		return proceed, nil
	}
	s.queued = true
	if _, refused := r.admission.refused.Load(key); !refused || began.IsZero() {
		s.progress(v1alpha1.ReasonQueued, fmt.Sprintf("Waiting for a slot: at most %d audits run at a time, and %d of a namespace. This one is %s (%s).",
			r.Options.Slots, r.Options.NamespaceSlots, claim.Class, s.run.Reason))
	}
	return wait(0), nil
}

// create creates the audit Pod in its slot. If the outcome is unknown, the slot stays taken.
func (r *Reconciler) create(ctx context.Context, s *session, pod *corev1.Pod) error {
	s.attempted = true
	err := r.Client.Create(ctx, pod, fieldOwner)
	if err == nil || !apierr.IsRefusal(err) {
		return err
	}
	s.attempted = false
	if isQuota(err) {
		// The others in the queue would be refused as well.
		r.Slots.Pause(s.now.Add(refusedPause))
	}
	return err
}

// yield returns at the end of a pass what the audit does not use: the slot of a Pod that was
// not created, or the place in the queue of an audit that should not run. API errors release
// nothing.
func (r *Reconciler) yield(s *session, out outcome, err error) {
	key := client.ObjectKeyFromObject(s.audit)
	switch {
	case s.queued:
	case s.slot != "":
		r.yieldSlot(s, key, out, err)
	case s.pod != nil:
		r.Slots.Found(s.now, s.pod.Name, s.pod.UID)
		r.leave(key)
	case err == nil && out != stale:
		r.leave(key)
	}
}

func (r *Reconciler) yieldSlot(s *session, key client.ObjectKey, out outcome, err error) {
	switch {
	case s.pod != nil && s.pod.Name == s.slot:
		r.admission.refused.Delete(key)
		r.Slots.Created(s.now, s.slot, s.pod.UID)
	case !s.attempted:
		switch {
		case err != nil || out == stale:
		case s.pod == nil && out.kind == waits:
			r.admission.refused.Store(key, struct{}{})
		case out.kind == rests:
			r.admission.refused.Delete(key)
		}
		r.Slots.Release(s.now, s.slot)
	}
}

// leave removes an audit from the queue.
func (r *Reconciler) leave(key client.ObjectKey) {
	r.admission.refused.Delete(key)
	r.Slots.Withdraw(r.Clock.Now(), key)
}
