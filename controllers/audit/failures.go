package audit

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/apierr"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

const (
	eventUnwritten   = "StatusRefused"
	labelToRun       = "`kubectl label --overwrite namespace %s pod-security.kubernetes.io/enforce=privileged`"
	rolesToApply     = "`kubectl apply -k config/rbac`"
	manifestsToApply = "`kubectl apply -k config/runs`"
)

// refusal describes why the API server rejects what an audit needs.
type refusal struct {
	// state is the reason of Auditing while the audit waits, and of the event when waiting
	// begins.
	state string
	// what is a sentence with the problem and the fix.
	what string
	// reason is the audit's reason once it is given up.
	reason report.Reason
	// passes is set if waiting always helps: the audit is never given up.
	passes bool
}

// namespaceState is the known state of the run namespace.
type namespaceState int

const (
	namespaceThere namespaceState = iota
	namespaceMissing
	namespaceTerminating
)

// refusalOf classifies an error. The API server has distinct reasons for only some; the others
// are recognised by the messages of its admission plugins.
func refusalOf(err error, namespace string, state namespaceState) refusal {
	unusable := func(format string, args ...any) refusal {
		return refusal{state: v1alpha1.ReasonRunNamespaceUnusable, reason: report.ReasonRunNamespaceUnusable, what: fmt.Sprintf(format, args...)}
	}
	switch {
	case isQuota(err):
		return refusal{state: v1alpha1.ReasonQuotaExceeded, reason: report.ReasonSandboxFailed, passes: true, what: fmt.Sprintf(
			"The quota of the run namespace %s has no room for the audit Pod, which waits for it; raise the ResourceQuota if it stays so", namespace)}
	case isLimitRange(err):
		return refusal{state: v1alpha1.ReasonAuditPodRefused, reason: report.ReasonSandboxFailed, what: fmt.Sprintf(
			"The LimitRange of the run namespace %s does not allow that much; ask for less by spec.sandbox.resources, or raise it", namespace)}
	case isPodSecurity(err):
		return unusable("Pod Security does not let the audit Pod, which traces, into the run namespace %s; allow it there: "+labelToRun, namespace, namespace)
	case state == namespaceMissing:
		return unusable("The run namespace %s does not exist; create it with its roles and policies: "+manifestsToApply, namespace)
	case state == namespaceTerminating || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return unusable("The run namespace %s is being deleted; create it again once it is gone: "+manifestsToApply, namespace)
	case isUnauthorised(err):
		return unusable("The manager has no right to what it needs in the run namespace %s; give it its role: "+rolesToApply, namespace)
	}
	return refusal{state: v1alpha1.ReasonAuditPodRefused, reason: report.ReasonSandboxFailed, what: fmt.Sprintf(
		"The audit Pod is refused in the run namespace %s; if it is by a policy, exempt the namespace from it", namespace)}
}

// isQuota recognises the message of the ResourceQuota admission plugin.
func isQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}

// isLimitRange recognises the message of the LimitRanger admission plugin.
func isLimitRange(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "usage per Container is")
}

// isPodSecurity recognises the message of the PodSecurity admission plugin.
func isPodSecurity(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "violates PodSecurity")
}

// isUnauthorised recognises an authorizer's message: `pods is forbidden: User "x" cannot create
// resource "pods"`.
func isUnauthorised(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot ") && strings.Contains(err.Error(), "User \"")
}

// refused waits where waiting may help, and says why. Quota becomes free; anything else, such
// as a policy, a missing or terminating namespace, or a foreign Pod of the same name, is given
// up after a while.
func (r *Reconciler) refused(ctx context.Context, s *session, err error) (outcome, error) {
	switch {
	case !apierr.IsRefusal(err):
		return proceed, fmt.Errorf("create audit pod: %w", err)
	case apierrors.IsInvalid(err):
		s.fail(report.ReasonSandboxFailed, "The API server refuses the audit Pod: %s", err)
		return proceed, nil
	}
	state := namespaceThere
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		state = r.runNamespace(ctx)
	}
	why := refusalOf(err, r.Options.RunNamespace, state)
	if s.state() != why.state {
		s.notice(corev1.EventTypeWarning, why.state, fmt.Sprintf("%s (%s).", why.what, err))
	}
	s.progress(why.state, fmt.Sprintf("%s (%s).", why.what, err))
	if !why.passes && s.inState() >= r.Options.StartDeadline {
		s.fail(why.reason, "The audit Pod could not be created within %s. %s (%s)", r.Options.StartDeadline, why.what, err)
		return proceed, nil
	}
	return wait(refusedPause), nil
}

// runNamespace reads the run namespace. If it is missing, so is the manager's Role in it, and
// the API server answers Forbidden instead of NotFound.
func (r *Reconciler) runNamespace(ctx context.Context) namespaceState {
	var namespace metav1.PartialObjectMetadata
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	switch err := r.Live.Get(ctx, client.ObjectKey{Name: r.Options.RunNamespace}, &namespace); {
	case apierrors.IsNotFound(err):
		return namespaceMissing
	case err == nil && !namespace.DeletionTimestamp.IsZero():
		return namespaceTerminating
	}
	return namespaceThere
}

// unwrittenPause is the retry interval for a status that the API server rejected as invalid.
const unwrittenPause = time.Minute

// unwritten handles a status that could not be written. An invalid one stays invalid until this
// version's CRDs are applied, so an immediate retry does not help; the Pod and its report are
// kept until then.
func (r *Reconciler) unwritten(ctx context.Context, audit *v1alpha1.MCPServerAudit, err error) (ctrl.Result, error) {
	if !apierrors.IsInvalid(err) {
		return again(err)
	}
	log.FromContext(ctx).Error(err, "The API server refused the status, which is tried again", "after", unwrittenPause)
	if _, known := r.unwritable.LoadOrStore(audit.UID, true); !known {
		r.Events.Eventf(audit, nil, corev1.EventTypeWarning, eventUnwritten, "Audit", "%s", excerpt.Line(fmt.Sprintf(
			"The API server refuses the status of the audit, which is kept and tried again: apply the CRDs of the manager's version. %s", err), maxNote))
	}
	return ctrl.Result{RequeueAfter: unwrittenPause}, nil
}

// unannounced finds the finished Pod of the verdict in the status, if the manager stopped or
// lost the response between the status write and what follows: the Pod is deleted last. It
// reads live, as a deleted Pod lingers in the cache.
func (r *Reconciler) unannounced(ctx context.Context, s *session) (*corev1.Pod, error) {
	if s.decided {
		return nil, nil
	}
	for _, pod := range s.finishedPods {
		run, err := podspec.ReadRun(pod)
		_, announced := r.announced.Load(pod.UID)
		if err != nil || announced || run.Name != podspec.Previous(s.audit) || !pod.DeletionTimestamp.IsZero() {
			continue
		}
		live := &corev1.Pod{}
		err = r.Live.Get(ctx, client.ObjectKeyFromObject(pod), live)
		switch {
		case apierrors.IsNotFound(err), err == nil && (live.UID != pod.UID || !live.DeletionTimestamp.IsZero()):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("read audit pod: %w", err)
		}
		return live, nil
	}
	return nil, nil
}

// announce emits the event for the verdict in the status.
func (r *Reconciler) announce(ctx context.Context, s *session) error {
	pod, err := r.unannounced(ctx, s)
	if pod == nil {
		return err
	}
	status := s.audit.Status
	ready := conditions.Find(s.audit, v1alpha1.ConditionReady)
	if ready == nil || status.Trigger == nil {
		return nil
	}
	kind, event, reason := decision(status.Verdict, ready.Reason, conditions.Reason(s.audit, v1alpha1.ConditionAudited))
	r.Events.Eventf(s.audit, nil, kind, event, "Audit", "%s", excerpt.Line(ready.Message, maxNote))
	r.Metrics.Decided(string(status.Verdict), reason, string(status.Trigger.Reason), s.age(pod.CreationTimestamp.Time))
	r.announced.Store(pod.UID, true)
	return nil
}

// decision returns type, reason and action of the event for a verdict. An inconclusive audit's
// reason is the class of its cause: events are selected by it, and consecutive ones with the
// same reason are merged.
func decision(verdict v1alpha1.Verdict, ready, audited string) (kind, event, reason string) {
	switch verdict {
	case v1alpha1.VerdictPass:
		return corev1.EventTypeNormal, "AuditPassed", ready
	case v1alpha1.VerdictFail:
		return corev1.EventTypeWarning, "AuditFailed", ready
	}
	return corev1.EventTypeWarning, audited, audited
}
