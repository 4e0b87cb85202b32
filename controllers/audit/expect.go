package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/apierr"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/controllers/slots"
)

const (
	// tendEvery is the interval for checking the slots without an event: a deadline passed, or
	// an event was lost.
	tendEvery = 10 * time.Second
	// sweepEvery is the minimum interval between sweeps for orphaned objects.
	sweepEvery = time.Minute
	// leaveFor is the time past its grace period in which a terminating Pod holds its slot: its node
	// may be lost.
	leaveFor = 2 * time.Minute
	// longestRun is the deadline of a Pod without one, which the operator did not create.
	longestRun = time.Hour
)

// snapshot lists the cached audit Pods without copying them.
func (r *Reconciler) snapshot(ctx context.Context) slots.Snapshot {
	return func() ([]slots.Holder, error) { return r.holders(ctx, r.Client, client.UnsafeDisableDeepCopy) }
}

func (r *Reconciler) holders(ctx context.Context, reader client.Reader, options ...client.ListOption) ([]slots.Holder, error) {
	var pods corev1.PodList
	options = append(options, client.InNamespace(r.Options.RunNamespace), client.MatchingLabels{podspec.LabelManagedBy: podspec.ManagedBy})
	if err := reader.List(ctx, &pods, options...); err != nil {
		return nil, fmt.Errorf("count audit pods: %w", err)
	}
	holders := make([]slots.Holder, 0, len(pods.Items))
	for i := range pods.Items {
		holders = append(holders, r.holder(&pods.Items[i]))
	}
	return holders, nil
}

// holder converts a Pod for the queue, which counts it until it is gone or past a deadline. For
// a Pod that is not terminating, the deadline is the sum of all timeouts from scheduling to
// storing the report; its active deadline counts from when a kubelet accepted it.
func (r *Reconciler) holder(pod *corev1.Pod) slots.Holder {
	active := time.Duration(ptr.Deref(pod.Spec.ActiveDeadlineSeconds, int64(longestRun/time.Second))) * time.Second
	taken := pod.CreationTimestamp.Add(r.Options.QueueDeadline + r.Options.StartDeadline)
	if pod.Status.StartTime != nil {
		taken = pod.Status.StartTime.Time
	}
	until := taken.Add(active + 2*collectDeadline + leaveFor)
	if pod.DeletionTimestamp != nil {
		until = pod.DeletionTimestamp.Add(leaveFor)
	}
	return slots.Holder{Pod: pod.Name, UID: pod.UID, Namespace: pod.Labels[podspec.LabelNamespace], Until: until}
}

// countOnce counts the Pods with a live list before the first slot is given: a previous manager
// may have created some that the cache does not show yet. If listing is refused, so is creating
// Pods, which reports the error.
func (r *Reconciler) countOnce(ctx context.Context) error {
	r.admission.counting.Lock()
	defer r.admission.counting.Unlock()
	if r.admission.counted {
		return nil
	}
	err := r.census(ctx)
	r.admission.counted = err == nil
	if apierr.IsRefusal(err) {
		return nil
	}
	return err
}

func (r *Reconciler) census(ctx context.Context) error {
	asked := r.Clock.Now()
	live, err := r.holders(ctx, r.Live)
	if err != nil {
		return err
	}
	r.Slots.Census(asked, live)
	return nil
}

// wakeBy lets the queue wake audits through the controller's work queue.
func (r *Reconciler) wakeBy(_ context.Context, queue workQueue) error {
	r.Slots.Notify(func(key client.ObjectKey) { hurry(queue, reconcile.Request{NamespacedName: key}) })
	return nil
}

// podHandler reports cached Pods to the queue. It enqueues nothing: the queue wakes the audits
// that get a freed slot.
func (r *Reconciler) podHandler() handler.TypedEventHandler[*corev1.Pod, reconcile.Request] {
	seen := func(ctx context.Context, pod *corev1.Pod) {
		if err := r.Slots.Seen(r.Clock.Now(), pod.Name, pod.UID, r.snapshot(ctx)); err != nil {
			log.FromContext(ctx).Error(err, "Left the slots as they were", "pod", pod.Name)
		}
	}
	return handler.TypedFuncs[*corev1.Pod, reconcile.Request]{
		CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[*corev1.Pod], _ workQueue) { seen(ctx, e.Object) },
		DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[*corev1.Pod], _ workQueue) { seen(ctx, e.Object) },
	}
}

// slotSweeper checks the slots periodically, so neither a lost event nor a stuck Pod blocks the
// queue. It works in memory unless a Pod is missing from the cache.
type slotSweeper struct {
	*Reconciler
	swept time.Time
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (t *slotSweeper) NeedLeaderElection() bool { return true }

// Start implements manager.Runnable.
func (t *slotSweeper) Start(ctx context.Context) error {
	ticker := time.NewTicker(tendEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := t.tend(ctx); err != nil && ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "Looked after the slots in part")
			}
		}
	}
}

func (t *slotSweeper) tend(ctx context.Context) error {
	now := t.Clock.Now()
	if t.Slots.Unseen(now) {
		if err := t.census(ctx); err != nil {
			return err
		}
	}
	return errors.Join(t.Slots.Tend(now, t.snapshot(ctx)), t.sweepOrphans(ctx, now))
}

// sweepOrphans sweeps if a cached Pod has no audit because its finalizer was removed by hand:
// otherwise anyone who may delete audits could fill the run namespace and its slots with
// orphans.
func (t *slotSweeper) sweepOrphans(ctx context.Context, now time.Time) error {
	if now.Sub(t.swept) < sweepEvery {
		return nil
	}
	orphaned, err := t.orphaned(ctx)
	if err != nil || !orphaned {
		return err
	}
	t.swept = now
	return (&sweeper{t.Reconciler}).sweep(ctx)
}

func (t *slotSweeper) orphaned(ctx context.Context) (bool, error) {
	var pods corev1.PodList
	if err := t.Client.List(ctx, &pods, client.InNamespace(t.Options.RunNamespace),
		client.MatchingLabels{podspec.LabelManagedBy: podspec.ManagedBy}, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list audit pods: %w", err)
	}
	for i := range pods.Items {
		run, err := podspec.ReadRun(&pods.Items[i])
		if err != nil || pods.Items[i].DeletionTimestamp != nil {
			continue
		}
		var audit v1alpha1.MCPServerAudit
		switch err := t.Client.Get(ctx, run.Audit, &audit); {
		case apierrors.IsNotFound(err), err == nil && string(audit.UID) != pods.Items[i].Labels[podspec.LabelUID]:
			return true, nil
		case err != nil:
			return false, fmt.Errorf("read audit of pod: %w", err)
		}
	}
	return false, nil
}
