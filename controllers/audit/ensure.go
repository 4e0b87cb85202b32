package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// fieldOwner is the manager's field manager.
const fieldOwner = client.FieldOwner("mcpaudit")

// refusedPause is the retry interval after the API server refused a Pod: no watch reports when
// quota is freed.
const refusedPause = 15 * time.Second

// find reads the Pod that the status names live: a late verdict must not run a server twice.
func (r *Reconciler) find(ctx context.Context, s *session) (outcome, error) {
	out, err := r.confirm(ctx, s)
	if err != nil || out != proceed || s.pod != nil {
		return out, err
	}
	if _, err := r.resolve(ctx, s); err != nil { // the gate finds the audit by the image digest in the status
		return proceed, err
	}
	s.fail(report.ReasonPodFailed, "The audit Pod disappeared before it could report: somebody deleted it, or it went away with its node")
	return proceed, nil
}

// ensure creates the audit Pod unless a live read finds one.
func (r *Reconciler) ensure(ctx context.Context, s *session) (outcome, error) {
	if out, err := r.confirm(ctx, s); err != nil || out != proceed || s.pod != nil {
		return out, err
	}
	secrets, err := r.copySecrets(ctx, s)
	if err != nil {
		return r.refused(ctx, s, err)
	}
	pod, err := r.build(ctx, s, secrets)
	if errors.Is(err, podspec.ErrTooLarge) || errors.Is(err, podspec.ErrTemplate) || errors.Is(err, errWeaker) {
		s.fail(report.ReasonSandboxFailed, "The audit cannot be made: %s", err)
		return proceed, nil
	}
	if err != nil {
		return proceed, err
	}
	if err := r.create(ctx, s, pod); err != nil {
		return r.refused(ctx, s, err)
	}
	s.pod, s.started, s.waited = pod, true, s.inState()
	s.notice(corev1.EventTypeNormal, "AuditStarted", fmt.Sprintf("Auditing %s in Pod %s/%s (%s): %s.",
		cmp.Or(s.image, s.audit.Spec.Server.URL), pod.Namespace, pod.Name, s.run.Reason, s.run.Message))
	return proceed, nil
}

// confirm checks live that the audit is unchanged since the decision, and whether its Pod
// exists.
func (r *Reconciler) confirm(ctx context.Context, s *session) (outcome, error) {
	var live v1alpha1.MCPServerAudit
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(s.audit), &live); err != nil {
		if apierrors.IsNotFound(err) {
			return stale, nil
		}
		return proceed, fmt.Errorf("read audit: %w", err)
	}
	if live.UID != s.audit.UID || live.ResourceVersion != s.audit.ResourceVersion {
		return stale, nil
	}
	decided := s.run
	if err := r.observeFrom(ctx, s, r.Live); err != nil {
		return proceed, err
	}
	if s.pod == nil {
		s.run = decided
	}
	return proceed, nil
}
