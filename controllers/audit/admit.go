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

// admission holds what the reconciler remembers about slots, beside the queue.
type admission struct {
	// counted is set once the Pods that exist were counted past the cache.
	counting sync.Mutex
	counted  bool
	// refused are the audits whose Pod was refused at the last attempt.
	refused sync.Map
}

// admit takes a slot for the audit Pod, or waits for one. It comes after resolve:
// an image that cannot be had keeps no slot from others. It is woken by the
// queue and asks nobody in between; its message says nothing that changes while
// it waits, such as its place, because every change is a write.
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

// create creates the audit Pod in the slot that was taken. After an answer that
// leaves it open whether the Pod exists, the slot stays taken.
func (r *Reconciler) create(ctx context.Context, s *session, pod *corev1.Pod) error {
	s.attempted = true
	err := r.Client.Create(ctx, pod, fieldOwner)
	if err == nil || !apierr.IsRefusal(err) {
		return err
	}
	s.attempted = false
	if isQuota(err) {
		// The next in the line would be refused as well, and all of them one by one.
		r.Slots.Pause(s.now.Add(refusedPause))
	}
	return err
}

// yield gives back, at the end of the steps, what the audit does not use: a slot
// whose Pod was not created, and the place in the line of one that is not to run.
// An error of the API server takes no place away.
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

// leave ends the wait of an audit that does not wait any more.
func (r *Reconciler) leave(key client.ObjectKey) {
	r.admission.refused.Delete(key)
	r.Slots.Withdraw(r.Clock.Now(), key)
}
