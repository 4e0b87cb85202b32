package result

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// Reasons of the control plane without a constant in k8s.io/api.
const (
	// deletionByTaintManager is a reason of DisruptionTarget
	// (kubernetes/pkg/controller/tainteviction).
	deletionByTaintManager = "DeletionByTaintManager"
	// deletionByPodGC is another (kubernetes/pkg/controller/podgc): the Pod's node is gone or
	// out of service.
	deletionByPodGC = "DeletionByPodGC"
	// evictionByAPI is another (kubernetes/pkg/registry/core/pod/storage/eviction.go).
	evictionByAPI = "EvictionByEvictionAPI"

	// Values of Pod.status.reason, set by the kubelet and the node controller.
	reasonDeadlineExceeded = "DeadlineExceeded"
	reasonNodeLost         = "NodeLost"
)

// disrupted checks for a Pod that was removed with a reason: by the condition DisruptionTarget,
// which precedes the deletion and may be reverted, or by Pod.status.reason.
func disrupted(v view) (State, bool) {
	if v.pod.DeletionTimestamp == nil && v.pod.Status.Phase != corev1.PodFailed {
		return State{}, false
	}
	if v.pod.Status.Reason == reasonNodeLost {
		return nodeLost(v.pod, v.pod.Status.Message), true
	}
	target := condition(v.pod, corev1.DisruptionTarget)
	if target != nil && target.Status == corev1.ConditionTrue {
		return takenAway(v.pod, target), true
	}
	switch v.pod.Status.Reason {
	case "Evicted", "Preempting", "Terminated", "Shutdown", "NodeShutdown":
		return evicted(v.pod, "by its kubelet"), true
	}
	return State{}, false
}

func takenAway(pod *corev1.Pod, target *corev1.PodCondition) State {
	switch target.Reason {
	case deletionByPodGC:
		return nodeLost(pod, target.Message)
	case deletionByTaintManager:
		if nodeSilent(pod) {
			return nodeLost(pod, target.Message)
		}
		return evicted(pod, "because its node got a taint that it does not tolerate, as a node does that is drained of Pods or does not answer")
	case corev1.PodReasonPreemptionByScheduler:
		return evicted(pod, "to make room for a Pod of a higher priority ("+or(target.Message, target.Reason)+")")
	case evictionByAPI:
		return evicted(pod, "by the eviction API, as `kubectl drain` does")
	case corev1.PodReasonTerminationByKubelet:
		return evicted(pod, "by its kubelet")
	}
	return evicted(pod, "("+target.Reason+": "+or(target.Message, "")+")")
}

// evicted quotes the kubelet's details, such as the exhausted resource.
func evicted(pod *corev1.Pod, how string) State {
	message := fmt.Sprintf("The audit Pod was evicted from node %s before it could report, %s", pod.Spec.NodeName, how)
	if words := strings.TrimSpace(pod.Status.Reason + " " + pod.Status.Message); words != "" {
		message += ": " + words
	}
	return State{Stage: Failed, Reason: report.ReasonEvicted, Message: message}
}

// overLimit are the messages of evictions for a Pod's own limit
// (kubernetes/pkg/kubelet/eviction/eviction_manager.go).
var overLimit = []string{
	"exceeds the limit", "exceeded its local ephemeral storage limit", "exceeds the total limit of containers",
}

// OverLimit reports whether an eviction message says that the Pod exceeded its own limit, which
// would repeat, rather than that the node ran out.
func OverLimit(message string) bool {
	return slices.ContainsFunc(overLimit, func(words string) bool { return strings.Contains(message, words) })
}

func nodeLost(pod *corev1.Pod, words string) State {
	return failed(report.ReasonNodeLost, "The node %s was lost while it ran the audit Pod: %s", pod.Spec.NodeName, or(words, pod.Status.Reason))
}

// deleted checks for a Pod that was deleted without a reason.
func deleted(v view) (State, bool) {
	if v.pod.DeletionTimestamp == nil {
		return State{}, false
	}
	if nodeSilent(v.pod) {
		return nodeLost(v.pod, "it does not answer, and the Pod was deleted"), true
	}
	return failed(report.ReasonPodFailed, "The audit Pod was deleted before it could report, by somebody who gave no reason"), true
}

// rejected checks for a Pod that its node rejected after scheduling.
func rejected(v view) (State, bool) {
	reason := v.pod.Status.Reason
	if v.pod.Status.Phase != corev1.PodFailed {
		return State{}, false
	}
	switch {
	case strings.HasPrefix(reason, "OutOf"), reason == "NodeAffinity", reason == "NodePorts",
		reason == "TopologyAffinityError", reason == "UnexpectedAdmissionError":
		return failed(report.ReasonUnschedulable, "The node %s did not take the audit Pod: %s %s", v.pod.Spec.NodeName, reason, v.pod.Status.Message), true
	case reason == "SysctlForbidden", reason == "AppArmor", strings.HasPrefix(reason, "PodOS"), reason == "PodFeatureUnsupported":
		return failed(report.ReasonSandboxFailed, "The kubelet of node %s refuses the audit Pod: %s %s", v.pod.Spec.NodeName, reason, v.pod.Status.Message), true
	}
	return State{}, false
}

// deadlineExceeded checks activeDeadlineSeconds.
func deadlineExceeded(v view) (State, bool) {
	if v.pod.Status.Phase != corev1.PodFailed || v.pod.Status.Reason != reasonDeadlineExceeded {
		return State{}, false
	}
	return failed(report.ReasonTimeout, "The audit Pod was still running at its deadline of %d seconds, and was ended",
		ptr.Deref(v.pod.Spec.ActiveDeadlineSeconds, 0)), true
}

// podFailed checks for a Pod that failed without an explanation.
func podFailed(v view) (State, bool) {
	if v.pod.Status.Phase != corev1.PodFailed && v.pod.Status.Phase != corev1.PodSucceeded {
		return State{}, false
	}
	if server := v.terminated(podspec.ContainerServer); server != nil && server.Reason == "OOMKilled" && v.pod.Status.Reason == "" {
		return failed(report.ReasonOOMKilled, "The server ran out of memory, and the runner ended with it"), true
	}
	return failed(report.ReasonPodFailed, "The audit Pod ended without a report: %s",
		or(v.pod.Status.Reason+" "+v.pod.Status.Message, "")), true
}

// nodeSilent reports whether the node controller has given up the node: only it sets Ready to
// False for a Pod whose containers are ready, as the kubelet would name those that are not.
func nodeSilent(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodUnknown {
		return true
	}
	ready := condition(pod, corev1.PodReady)
	if ready == nil || ready.Status == corev1.ConditionTrue || len(pod.Status.ContainerStatuses) == 0 {
		return false
	}
	return !slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return !c.Ready })
}

func condition(pod *corev1.Pod, of corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == of {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}
