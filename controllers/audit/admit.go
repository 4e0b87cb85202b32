package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/slots"
)

// waitsForSlot is how the message of an audit begins that waits for a slot, and
// of no other. What such an audit waited counts against no deadline (progress).
const waitsForSlot = "Waiting for a slot"

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
func (r *Reconciler) admit(ctx context.Context, s *session) error {
	if s.pod != nil || s.failed() || s.hadPod() {
		return nil // there is no Pod to create
	}
	if err := r.countOnce(ctx); err != nil {
		return err
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
		return err
	case admitted:
		s.slot = s.run.Name
		return nil
	}
	s.queued = true
	if _, refused := r.admission.refused.Load(key); !refused || began.IsZero() {
		s.progress(v1alpha1.ReasonQueued, fmt.Sprintf("%s: at most %d audits run at a time, and %d of a namespace. This one is %s (%s).",
			waitsForSlot, r.Options.Slots, r.Options.NamespaceSlots, claim.Class, s.run.Reason))
	}
	return waiting{}
}

// create creates the audit Pod in the slot that was taken. After an answer that
// leaves it open whether the Pod exists, the slot stays taken.
func (r *Reconciler) create(ctx context.Context, s *session, pod *corev1.Pod) error {
	s.attempted = true
	err := r.Client.Create(ctx, pod, fieldOwner)
	if err == nil || !isRefusal(err) {
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
func (r *Reconciler) yield(s *session, err error) {
	key := client.ObjectKeyFromObject(s.audit)
	switch {
	case s.queued:
	case s.slot != "":
		r.yieldSlot(s, key, err)
	case s.pod != nil:
		r.Slots.Found(s.now, s.pod.Name, s.pod.UID)
		r.leave(key)
	case err == nil, errors.Is(err, errRest), isWaiting(err):
		r.leave(key)
	}
}

func (r *Reconciler) yieldSlot(s *session, key client.ObjectKey, err error) {
	switch {
	case s.pod != nil && s.pod.Name == s.slot:
		r.admission.refused.Delete(key)
		r.Slots.Created(s.now, s.slot, s.pod.UID)
	case !s.attempted:
		if s.pod == nil && isWaiting(err) {
			r.admission.refused.Store(key, struct{}{})
		} else if err == nil {
			r.admission.refused.Delete(key)
		}
		r.Slots.Release(s.now, s.slot)
	}
}

func isWaiting(err error) bool {
	var wait waiting
	return errors.As(err, &wait)
}

// leave ends the wait of an audit that does not wait any more.
func (r *Reconciler) leave(key client.ObjectKey) {
	r.admission.refused.Delete(key)
	r.Slots.Withdraw(r.Clock.Now(), key)
}

// leavesLine reports whether a condition says that the audit waits for a slot, and
// the message that replaces it does not.
func leavesLine(auditing *metav1.Condition, message string) bool {
	return strings.HasPrefix(auditing.Message, waitsForSlot) && !strings.HasPrefix(message, waitsForSlot)
}
