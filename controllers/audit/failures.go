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

// refusal is why the API server does not take what an audit needs.
type refusal struct {
	// state is the reason of Auditing while the audit waits, and of the event when the
	// wait begins.
	state string
	// what says in a sentence what is the matter and what to do.
	what string
	// reason of the audit if it has to be given up.
	reason report.Reason
	// passes is set if it is only a matter of time: there is no giving up.
	passes bool
}

// namespaceState says what is known of the run namespace.
type namespaceState int

const (
	namespaceThere namespaceState = iota
	namespaceMissing
	namespaceTerminating
)

// refusalOf classifies an answer. The API server has reasons of its own for some
// of them only; the others are known by the words of its admission plugins.
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

// isQuota reports whether a resource quota is exhausted, by the text of the ResourceQuota admission plugin.
func isQuota(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}

// isLimitRange knows the LimitRanger admission plugin by its text.
func isLimitRange(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "usage per Container is")
}

// isPodSecurity knows the PodSecurity admission plugin by its text.
func isPodSecurity(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "violates PodSecurity")
}

// isUnauthorised knows an authorizer by its text: "pods is forbidden: User "x"
// cannot create resource "pods" ...".
func isUnauthorised(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot ") && strings.Contains(err.Error(), "User \"")
}

// refused waits where waiting may help, and says why. Room in the quota comes;
// everything else, such as a policy, a namespace that is missing or on its way
// out, or a stranger's Pod of the same name, is given up after a while.
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

// runNamespace asks for the run namespace. Where it is missing so is the manager's
// role in it, and the API server answers Forbidden and not NotFound.
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

// unwrittenPause is when a status that the API server found invalid is tried again.
const unwrittenPause = time.Minute

// unwritten is about a status that could not be written. One that is invalid stays
// so until somebody applies the CRDs of this version, and trying again at once
// would not help; the Pod and its report are kept until then.
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

// unannounced finds, among the Pods that are over, the one of the verdict in the
// status, if the manager was stopped, or lost the answer, between the write of
// the status and what follows it: the Pod is deleted last. It looks past the
// cache, in which a Pod outlives its deletion.
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

// announce tells of the verdict that is in the status.
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

// decision returns how a verdict is announced: the type, the reason and the cause of the event. Where the audit is
// inconclusive, the reason is the class of the cause: events are selected by it, and two of one reason that follow
// each other closely are counted as one.
func decision(verdict v1alpha1.Verdict, ready, audited string) (kind, event, reason string) {
	switch verdict {
	case v1alpha1.VerdictPass:
		return corev1.EventTypeNormal, "AuditPassed", ready
	case v1alpha1.VerdictFail:
		return corev1.EventTypeWarning, "AuditFailed", ready
	}
	return corev1.EventTypeWarning, audited, audited
}
