// Package audit is the controller of MCPServerAudit: it decides when a server
// is audited, has it run in a sandbox Pod, and is the only writer of the status.
//
// A reconciliation is a row of steps over one object; each does its part, or
// ends the row because something has to happen first:
//
//	observe  which of the Pods that exist is the audit in progress
//	decide   is an audit due, and why                    (controllers/trigger)
//	find     a Pod that the cache does not show
//	resolve  the image to a digest and an entrypoint     (controllers/imageref)
//	admit    a slot, of those that audits run in         (controllers/slots)
//	ensure   that the audit Pod exists                   (controllers/podspec)
//	collect  summary and report, or the failure          (controllers/result)
//	compare  with the report of the baseline, and mark what the spec accepts
//	judge    threshold and baseline                      (controllers/verdict)
//	publish  the report object and the status
//
// Then the status is written, once and only if it changed. What may only happen
// after that is: the event, the metric and the log (emit), deleting the Pod
// and pruning old reports (tidy). State is nowhere but in the status and on the
// Pod, so a manager may be restarted at any point: a Pod whose run is not in the
// status is collected again, one whose run is in it is deleted. Every wait has a
// deadline of the manager's own, but for a slot and for room in the quota of the run
// namespace, which come; an API server that fails is asked again with the work
// queue's back-off.
//
// The conditions, and who sets them:
//
//	condition       while the first audit runs    when it is decided
//	Ready           Unknown, see Auditing           True, or False with the reason
//	Audited         Unknown NotYetAudited           True Completed, or False
//	ScopeConformant Unknown NotYetAudited           by spec.declaredScope
//	ManifestStable  Unknown NotYetAudited           by the baseline
//	Auditing        True, see AuditConditions       False Idle
//	Reconciling     True                            absent
//	Stalled         absent                          True if Ready is False
//
// A decided object keeps its conditions while it is audited again, but for
// Auditing: it does not flap. After a change of the spec observedGeneration
// lags behind until the new verdict; kstatus and `kubectl wait` go by that.
package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/health"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/nodes"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/result"
	"github.com/mcpaudit/mcpaudit/controllers/slots"
)

// Images resolves images; imageref.Resolver does.
type Images interface {
	Resolve(ctx context.Context, image string, pullSecrets []corev1.Secret) (imageref.Image, error)
	// Digest returns what the image names now, at the cost of one request.
	Digest(ctx context.Context, image string, pullSecrets []corev1.Secret) (string, error)
}

// Reconciler reconciles MCPServerAudits.
type Reconciler struct {
	// Client reads audits and Pods from the cache, and writes.
	Client client.Client
	// Live reads from the API server: secrets, reports, and what must not be
	// decided on a stale cache.
	Live    client.Reader
	Images  Images
	Logs    result.Logs
	Events  events.EventRecorder
	Metrics *metrics.Metrics
	// Attester makes the statements of reports; nil for none.
	Attester Attester
	// EnvironmentKey is the key of the digests of environments, nil before it is read; a
	// nil func has them without a digest.
	EnvironmentKey func() []byte
	// Watchdog ends reconciliations that take too long.
	Watchdog *health.Watchdog
	Options  options.Options
	// Slots bound how many audits run at a time.
	Slots *slots.Queue
	// Clock is the real one, but in tests.
	Clock clock.PassiveClock

	admission admission
	nodes     nodes.Features
	// unwritable has the UIDs of the audits whose status the API server refuses,
	// so that this is announced once: it cannot be kept in the status.
	unwritable sync.Map
	// announced has the UIDs of the Pods whose verdict was announced, until they are deleted.
	announced       sync.Map
	tags            tags // what registries were asked
	registryLimiter registryLimiter
}

// Reconcile brings one audit a step further.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	audit := &v1alpha1.MCPServerAudit{}
	if err := r.Client.Get(ctx, request.NamespacedName, audit); err != nil {
		if apierrors.IsNotFound(err) {
			r.leave(request.NamespacedName)
			r.tags.forget(request.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	audit, err := r.full(ctx, audit)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !audit.DeletionTimestamp.IsZero() {
		r.leave(request.NamespacedName)
		return ctrl.Result{}, r.cleanUp(ctx, audit)
	}
	if err := r.addFinalizer(ctx, audit); err != nil {
		return again(err)
	}
	before := audit.DeepCopy()
	s := &session{audit: audit, now: r.Clock.Now()}
	out, err := r.advance(ctx, s)
	r.yield(s, out, err)
	if out == stale {
		return ctrl.Result{RequeueAfter: staleAfter}, nil
	}
	next := s.conclude(out, err)
	if writeErr := r.write(ctx, before, audit); writeErr != nil {
		return r.unwritten(ctx, audit, errors.Join(writeErr, err))
	}
	r.unwritable.Delete(audit.UID)
	r.emit(ctx, before, s)
	return next, errors.Join(err, r.tidy(ctx, s))
}

// again treats a conflict as what it is: news that the cache has not seen yet.
func again(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: staleAfter}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

func (r *Reconciler) addFinalizer(ctx context.Context, audit *v1alpha1.MCPServerAudit) error {
	before := audit.DeepCopy()
	if !controllerutil.AddFinalizer(audit, v1alpha1.Finalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Patch(ctx, audit, patch); err != nil {
		return fmt.Errorf("add finalizer: %w", err)
	}
	return nil
}

// write is the one place where a status is written. The lock makes a decision
// on a stale object fail here, before anything is deleted because of it.
func (r *Reconciler) write(ctx context.Context, before, audit *v1alpha1.MCPServerAudit) error {
	if equality.Semantic.DeepEqual(before.Status, audit.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, audit, patch); err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	return nil
}
