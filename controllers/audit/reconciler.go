// Package audit is the controller of MCPServerAudit: it decides when a server
// is audited, has it run in a sandbox Pod, and is the only writer of the status.
//
// A reconciliation runs steps over one object in order. Each advances it, or stops because
// something else must happen first:
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
// Then the status is written, once and only if it changed. What depends on that write follows:
// event, metric and log (emit), deleting the Pod and pruning old reports (tidy). All state is
// in the status and on the Pod, so the manager may restart at any point: a Pod whose run is not
// in the status is collected again, one whose run is in it is deleted. Every wait has its own
// deadline, except for a slot or quota in the run namespace, which become free; API errors are
// retried with back-off.
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
// A decided object keeps its conditions during the next audit, except Auditing, so they do not
// flap. After a spec change observedGeneration lags until the new verdict; kstatus and `kubectl
// wait` rely on that.
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

// Images resolves images. imageref.Resolver implements it.
type Images interface {
	Resolve(ctx context.Context, image string, pullSecrets []corev1.Secret) (imageref.Image, error)
	// Digest returns the digest that the image names now, in one request.
	Digest(ctx context.Context, image string, pullSecrets []corev1.Secret) (string, error)
}

// Reconciler reconciles MCPServerAudits.
type Reconciler struct {
	// Client reads audits and Pods from the cache, and writes.
	Client client.Client
	// Live reads from the API server: secrets, reports, and whatever must not be decided on a
	// stale cache.
	Live    client.Reader
	Images  Images
	Logs    result.Logs
	Events  events.EventRecorder
	Metrics *metrics.Metrics
	// Attester makes the statements of reports; nil to make none.
	Attester Attester
	// EnvironmentKey returns the key for environment digests, nil until it is read. Without the
	// func, environments have no digest.
	EnvironmentKey func() []byte
	// Watchdog bounds the duration of reconciliations.
	Watchdog *health.Watchdog
	Options  options.Options
	// Slots bound how many audits run at a time.
	Slots *slots.Queue
	// Clock is replaced in tests.
	Clock clock.PassiveClock

	admission admission
	nodes     nodes.Features
	// unwritable has the UIDs of audits whose status the API server rejects, to report that
	// once: the status cannot hold it.
	unwritable sync.Map
	// announced has the UIDs of Pods whose verdict was announced, until they are deleted.
	announced       sync.Map
	tags            tags // when registries were last asked
	registryLimiter registryLimiter
}

// Reconcile advances one audit.
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

// again retries conflicts silently: the cache is merely stale.
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

// write is the only place that writes a status. Its optimistic lock makes decisions on stale
// objects fail before anything is deleted.
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
