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

// The words of the control plane that k8s.io/api has no constant for.
const (
	// deletionByTaintManager is a reason of DisruptionTarget
	// (kubernetes/pkg/controller/tainteviction).
	deletionByTaintManager = "DeletionByTaintManager"
	// deletionByPodGC is one (kubernetes/pkg/controller/podgc): the node of the Pod
	// does not exist any more, or is out of service.
	deletionByPodGC = "DeletionByPodGC"
	// evictionByAPI is one (kubernetes/pkg/registry/core/pod/storage/eviction.go).
	evictionByAPI = "EvictionByEvictionAPI"

	// The values of Pod.status.reason, of the kubelet and of the node controller.
	reasonDeadlineExceeded = "DeadlineExceeded"
	reasonNodeLost         = "NodeLost"
)

// disrupted is about a Pod that somebody took away, and said why: by the condition
// DisruptionTarget, which comes a moment before the deletion and may be taken
// back, or by Pod.status.reason.
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

// evicted quotes what the kubelet has to say besides, such as the resource that
// the node had run out of.
func evicted(pod *corev1.Pod, how string) State {
	message := fmt.Sprintf("The audit Pod was evicted from node %s before it could report, %s", pod.Spec.NodeName, how)
	if words := strings.TrimSpace(pod.Status.Reason + " " + pod.Status.Message); words != "" {
		message += ": " + words
	}
	return State{Stage: Failed, Reason: report.ReasonEvicted, Message: message}
}

// overLimit are the words of a kubelet that evicts a Pod for a limit of its own
// (kubernetes/pkg/kubelet/eviction/eviction_manager.go).
var overLimit = []string{
	"exceeds the limit", "exceeded its local ephemeral storage limit", "exceeds the total limit of containers",
}

// OverLimit reports whether the message of an eviction says that the Pod wrote more than
// it may: what happens again with the server, and not what the node has come to.
func OverLimit(message string) bool {
	return slices.ContainsFunc(overLimit, func(words string) bool { return strings.Contains(message, words) })
}

func nodeLost(pod *corev1.Pod, words string) State {
	return failed(report.ReasonNodeLost, "The node %s was lost while it ran the audit Pod: %s", pod.Spec.NodeName, or(words, pod.Status.Reason))
}

// deleted is about a Pod that somebody deleted without saying why.
func deleted(v view) (State, bool) {
	if v.pod.DeletionTimestamp == nil {
		return State{}, false
	}
	if nodeSilent(v.pod) {
		return nodeLost(v.pod, "it does not answer, and the Pod was deleted"), true
	}
	return failed(report.ReasonPodFailed, "The audit Pod was deleted before it could report, by somebody who gave no reason"), true
}

// rejected is about a Pod that the scheduler had given to a node which then did
// not take it.
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

// deadlineExceeded is the kubelet's own word, see activeDeadlineSeconds.
func deadlineExceeded(v view) (State, bool) {
	if v.pod.Status.Phase != corev1.PodFailed || v.pod.Status.Reason != reasonDeadlineExceeded {
		return State{}, false
	}
	return failed(report.ReasonTimeout, "The audit Pod was still running at its deadline of %d seconds, and was ended",
		ptr.Deref(v.pod.Spec.ActiveDeadlineSeconds, 0)), true
}

// podFailed is about a Pod that ended in a way that nobody explains.
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

// nodeSilent reports whether the node controller has given the node up: it alone
// takes Ready from a Pod whose containers are ready, since its kubelet would
// have named those that are not.
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
