package result_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/result"
)

var (
	created   = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	deadlines = result.Deadlines{Pull: time.Minute, Start: 10 * time.Minute, Run: 8 * time.Minute}
)

// podBuilder makes Pods as a kubelet would report them.
type podBuilder struct{ pod *corev1.Pod }

func newPod() podBuilder {
	return podBuilder{&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "runs", Name: "run", CreationTimestamp: metav1.NewTime(created)},
		Spec: corev1.PodSpec{
			ActiveDeadlineSeconds: new(int64(480)), NodeName: "node-1",
			InitContainers: []corev1.Container{{Name: "install", Image: "example/runner"}},
			Containers:     []corev1.Container{{Name: "server", Image: "example/server"}, {Name: "runner", Image: "example/runner"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodPending, StartTime: new(metav1.NewTime(created))},
	}}
}

func (b podBuilder) phase(phase corev1.PodPhase, reason, message string) podBuilder {
	b.pod.Status.Phase, b.pod.Status.Reason, b.pod.Status.Message = phase, reason, message
	return b
}

func (b podBuilder) status(name string, state corev1.ContainerState) podBuilder {
	list := &b.pod.Status.ContainerStatuses
	if name == "install" {
		list = &b.pod.Status.InitContainerStatuses
	}
	*list = append(*list, corev1.ContainerStatus{Name: name, State: state})
	return b
}

func (b podBuilder) waits(name, reason, message string) podBuilder {
	return b.status(name, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}})
}

func (b podBuilder) runs(name string) podBuilder {
	return b.status(name, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(created.Add(20 * time.Second))}})
}

func (b podBuilder) ends(name string, code int32, reason, message string) podBuilder {
	return b.status(name, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, FinishedAt: metav1.NewTime(created.Add(20 * time.Second)),
	}})
}

// alone makes it the Pod of a server that runs elsewhere.
func (b podBuilder) alone() podBuilder {
	b.pod.Spec.InitContainers, b.pod.Spec.Containers = nil, b.pod.Spec.Containers[1:]
	return b
}

// taken says when a kubelet took the Pod on.
func (b podBuilder) taken(after time.Duration) podBuilder {
	b.pod.Status.StartTime = new(metav1.NewTime(created.Add(after)))
	return b
}

func (b podBuilder) deleted() podBuilder {
	b.pod.DeletionTimestamp = new(metav1.NewTime(created))
	return b
}

func (b podBuilder) unscheduled(message string) podBuilder {
	b.pod.Spec.NodeName, b.pod.Status.StartTime = "", nil
	return b.condition(corev1.PodScheduled, corev1.ConditionFalse, corev1.PodReasonUnschedulable, message)
}

// untaken makes it a Pod that no kubelet has looked at.
func (b podBuilder) untaken(node string) podBuilder {
	b.pod.Spec.NodeName, b.pod.Status.StartTime = node, nil
	return b
}

func (b podBuilder) condition(of corev1.PodConditionType, status corev1.ConditionStatus, reason, message string) podBuilder {
	b.pod.Status.Conditions = append(b.pod.Status.Conditions, corev1.PodCondition{Type: of, Status: status, Reason: reason, Message: message})
	return b
}

func (b podBuilder) disrupted(reason, message string) podBuilder {
	return b.condition(corev1.DisruptionTarget, corev1.ConditionTrue, reason, message)
}

// silent returns what the node controller writes when the node does not answer.
func (b podBuilder) silent() podBuilder {
	b = b.phase(corev1.PodRunning, "", "").runs("server").runs("runner")
	for i := range b.pod.Status.ContainerStatuses {
		b.pod.Status.ContainerStatuses[i].Ready = true
	}
	return b.condition(corev1.PodReady, corev1.ConditionFalse, "", "")
}

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name    string
		pod     podBuilder
		age     time.Duration
		stage   result.Stage
		reason  string
		message string // a part of it
		recheck time.Duration
	}{
		{"just created", newPod(), 0, result.Starting, "", "is starting", 10 * time.Minute},
		{"unscheduled", newPod().unscheduled("0/1 nodes are available"), time.Minute, result.Starting, "", "cannot be scheduled: 0/1 nodes", 9 * time.Minute},
		{"unscheduled for too long", newPod().unscheduled("0/1 nodes are available"), 11 * time.Minute, result.Failed, "Unschedulable", "did not start within 10m0s. The audit Pod cannot be scheduled: 0/1 nodes", 0},
		{"no scheduler", newPod().untaken(""), 11 * time.Minute, result.Failed, "Unschedulable", "waits for the scheduler", 0},
		{"no kubelet", newPod().untaken("node-1"), 11 * time.Minute, result.Failed, "NodeLost", "waits for the kubelet of its node node-1", 0},
		{"starting for too long", newPod().waits("server", "ContainerCreating", ""), 11 * time.Minute, result.Failed, "PodFailed", "did not start within 10m0s. The audit Pod is starting", 0},
		{"containers are created", newPod().waits("server", "ContainerCreating", ""), 0, result.Starting, "", "is starting", 10 * time.Minute},
		{"running", newPod().phase(corev1.PodRunning, "", "").runs("server").runs("runner"), time.Minute, result.Running, "", "being audited", 7*time.Minute + 20*time.Second},
		{"running on a node that does not answer", newPod().silent(), time.Minute, result.Running, "", "node node-1 of the audit Pod does not answer", 7*time.Minute + 20*time.Second},
		{"running on a node that has not answered", newPod().silent(), 9 * time.Minute, result.Failed, "NodeLost", "node-1 did not answer any more", 0},
		{"running, and a container has ended", newPod().silent().ends("install", 0, "Completed", ""), time.Minute, result.Running, "", "does not answer", 7*time.Minute + 20*time.Second},
		{"running, and not ready by the kubelet's word", newPod().phase(corev1.PodRunning, "", "").runs("runner").ends("server", 1, "Error", "").condition(corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady", ""), time.Minute, result.Running, "", "being audited", 7*time.Minute + 20*time.Second},
		{"running too long", newPod().phase(corev1.PodRunning, "", "").runs("server").runs("runner"), 9 * time.Minute, result.Failed, "Timeout", "still running 8m0s after its runner had started", 0},

		{"first pull failed", newPod().waits("server", "ErrImagePull", "not found"), 50 * time.Second, result.Starting, "", "server image example/server could not be pulled yet", 10 * time.Second},
		{"pull failed again late", newPod().waits("server", "ErrImagePull", "not found"), 2 * time.Minute, result.Starting, "", "tried again: ErrImagePull", time.Second},
		{"pull keeps failing", newPod().runs("runner").waits("server", "ImagePullBackOff", "Back-off: not found"), 61 * time.Second, result.Failed, "ImagePullFailed", "server image example/server could not be pulled: ImagePullBackOff: Back-off: not found", 0},
		{"pull fails on a Pod that waited for a node", newPod().taken(5*time.Minute).waits("server", "ImagePullBackOff", "x"), 330 * time.Second, result.Starting, "", "tried again", 30 * time.Second},
		{"no image name", newPod().waits("server", "InvalidImageName", "bad"), 0, result.Failed, "ImagePullFailed", "InvalidImageName: bad", 0},
		{"image is never pulled", newPod().waits("server", "ErrImageNeverPull", ""), 0, result.Failed, "ImagePullFailed", "ErrImageNeverPull", 0},
		{"the runner's image", newPod().waits("install", "ImagePullBackOff", "x"), 2 * time.Minute, result.Failed, "ImagePullFailed", "runner image example/runner (the manager's --runner-image)", 0},
		{"no container yet", newPod().waits("server", "CreateContainerError", "boom"), time.Second, result.Starting, "", "server could not be started yet", 59 * time.Second},
		{"no container", newPod().waits("server", "CreateContainerConfigError", "boom"), time.Minute, result.Failed, "SandboxFailed", "boom", 0},

		{"install failed", newPod().ends("install", 1, "Error", "route exists\n"), 0, result.Failed, "SandboxFailed", "(exit status 1): route exists", 0},
		{"install went well", newPod().ends("install", 0, "Completed", ""), 0, result.Starting, "", "is starting", 10 * time.Minute},
		{"server not started", newPod().runs("runner").ends("server", 128, "StartError", "no such directory"), 0, result.Failed, "SandboxFailed", "no such directory", 0},
		{"server ended, runner reports", newPod().runs("runner").ends("server", 1, "Error", ""), 20 * time.Second, result.Running, "", "being audited", 8 * time.Minute},

		{"finished", newPod().ends("runner", 0, "Completed", "{}").ends("server", 125, "Error", ""), 21 * time.Second, result.Finished, "", "", 0},
		{"finished, server still ending", newPod().ends("runner", 0, "Completed", "{}").runs("server"), 21 * time.Second, result.Running, "", "is ending", 9 * time.Second},
		{"finished, server does not end", newPod().ends("runner", 0, "Completed", "{}").runs("server"), 31 * time.Second, result.Finished, "", "", 0},
		{"finished, and there was no server to end", newPod().alone().ends("runner", 0, "Completed", "{}"), 21 * time.Second, result.Finished, "", "", 0},
		{"finished at the deadline", newPod().phase(corev1.PodFailed, "DeadlineExceeded", "").ends("runner", 0, "Completed", "{}").ends("server", 137, "Error", ""), time.Minute, result.Finished, "", "", 0},
		{"finished, then deleted", newPod().ends("runner", 0, "Completed", "{}").runs("server").deleted(), 21 * time.Second, result.Finished, "", "", 0},
		{"deleted", newPod().runs("runner").deleted(), time.Minute, result.Failed, "PodFailed", "was deleted before it could report, by somebody", 0},
		{"deleted, runner killed", newPod().ends("runner", 137, "Error", "").deleted(), time.Minute, result.Failed, "PodFailed", "was deleted", 0},

		{"deleted with a node that does not answer", newPod().silent().deleted(), time.Minute, result.Failed, "NodeLost", "node-1 was lost", 0},

		{"runner failed", newPod().ends("runner", 1, "Error", "no plan"), 0, result.Failed, "RunnerFailed", "(exit status 1): no plan", 0},
		{"runner failed in silence", newPod().ends("runner", 1, "", ""), 0, result.Failed, "RunnerFailed", "no reason was given", 0},
		{"runner out of memory", newPod().ends("runner", 137, "OOMKilled", ""), 0, result.Failed, "OOMKilled", "runner ran out of memory", 0},
		{"deadline", newPod().phase(corev1.PodFailed, "DeadlineExceeded", "").ends("runner", 137, "Error", ""), 9 * time.Minute, result.Failed, "Timeout", "deadline of 480 seconds", 0},
		{"runner panics", newPod().ends("runner", 2, "Error", "panic: index out of range [3]\n\ngoroutine 1 [running]"), 0, result.Failed, "RunnerFailed", "(exit status 2): panic: index out of range [3]", 0},

		{"evicted", newPod().phase(corev1.PodFailed, "Evicted", "the node was low on memory").ends("runner", 137, "Error", ""), time.Minute, result.Failed, "Evicted", "from node node-1 before it could report, by its kubelet: Evicted the node was low on memory", 0},
		{"evicted, runner out of memory", newPod().phase(corev1.PodFailed, "Evicted", "").ends("runner", 137, "OOMKilled", ""), time.Minute, result.Failed, "OOMKilled", "the server did not", 0},
		{"evicted, by the condition", newPod().phase(corev1.PodFailed, "Evicted", "x").disrupted("TerminationByKubelet", "").ends("runner", 137, "Error", ""), time.Minute, result.Failed, "Evicted", "by its kubelet: Evicted x", 0},
		{"node shut down", newPod().phase(corev1.PodFailed, "Terminated", "Pod was terminated in response to imminent node shutdown.").ends("runner", 143, "Error", ""), time.Minute, result.Failed, "Evicted", "imminent node shutdown", 0},
		{"preempted by the kubelet", newPod().phase(corev1.PodFailed, "Preempting", "Preempted in order to admit critical pod"), time.Minute, result.Failed, "Evicted", "critical pod", 0},
		{"preempted by the scheduler", newPod().runs("runner").disrupted("PreemptionByScheduler", "preempting to accommodate a higher priority pod").deleted(), time.Minute, result.Failed, "Evicted", "higher priority (preempting", 0},
		{"drained", newPod().runs("runner").disrupted("EvictionByEvictionAPI", "Eviction API: evicting").deleted(), time.Minute, result.Failed, "Evicted", "kubectl drain", 0},
		{"tainted", newPod().runs("runner").disrupted("DeletionByTaintManager", "").deleted(), time.Minute, result.Failed, "Evicted", "a taint that it does not tolerate", 0},
		{"tainted, since it does not answer", newPod().silent().disrupted("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint").deleted(), time.Minute, result.Failed, "NodeLost", "node-1 was lost while it ran the audit Pod: Taint manager", 0},
		{"a disruption of the future", newPod().disrupted("DeletionByMoon", "full").deleted(), time.Minute, result.Failed, "Evicted", "(DeletionByMoon: full)", 0},
		{"about to be evicted", newPod().runs("runner").disrupted("EvictionByEvictionAPI", ""), time.Minute, result.Running, "", "being audited", 7*time.Minute + 20*time.Second},
		{"an eviction that was taken back", newPod().runs("runner").condition(corev1.DisruptionTarget, corev1.ConditionFalse, "EvictionByEvictionAPI", "").deleted(), time.Minute, result.Failed, "PodFailed", "by somebody", 0},
		{"evicted, but finished", newPod().ends("runner", 0, "Completed", "{}").disrupted("EvictionByEvictionAPI", "").deleted(), time.Minute, result.Finished, "", "", 0},
		{"node deleted", newPod().phase(corev1.PodFailed, "", "").disrupted("DeletionByPodGC", "PodGC: node no longer exists").deleted(), time.Minute, result.Failed, "NodeLost", "node-1 was lost while it ran the audit Pod: PodGC: node no longer exists", 0},
		{"node lost", newPod().phase(corev1.PodRunning, "NodeLost", "Node node-1 which was running pod run is unresponsive").runs("runner").deleted(), time.Minute, result.Failed, "NodeLost", "unresponsive", 0},
		{"unknown", newPod().phase(corev1.PodUnknown, "", "").runs("runner"), 9 * time.Minute, result.Failed, "NodeLost", "node-1", 0},

		{"no room on the node after all", newPod().phase(corev1.PodFailed, "OutOfcpu", "Node didn't have enough resource: cpu"), time.Minute, result.Failed, "Unschedulable", "did not take the audit Pod: OutOfcpu", 0},
		{"forbidden by the kubelet", newPod().phase(corev1.PodFailed, "SysctlForbidden", "forbidden sysctl"), time.Minute, result.Failed, "SandboxFailed", "SysctlForbidden forbidden sysctl", 0},
		{"for a reason of the future", newPod().phase(corev1.PodFailed, "Bored", "no fun").ends("runner", 137, "Error", ""), time.Minute, result.Failed, "PodFailed", "without a report: Bored no fun", 0},
		{"node gone", newPod().phase(corev1.PodFailed, "", ""), time.Minute, result.Failed, "PodFailed", "no reason was given", 0},
		{"server out of memory, runner unknown", newPod().phase(corev1.PodFailed, "", "").ends("server", 137, "OOMKilled", ""), time.Minute, result.Failed, "OOMKilled", "server ran out of memory", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := result.Read(test.pod.pod, created.Add(test.age), deadlines)
			if got.Stage != test.stage || string(got.Reason) != test.reason || got.Recheck != test.recheck || test.message == "" && got.Message != "" || !strings.Contains(got.Message, test.message) {
				t.Errorf("Read = %+v\nwant %s, reason %q, recheck %s, saying %q", got, test.stage, test.reason, test.recheck, test.message)
			}
		})
	}
}

func TestReadImageID(t *testing.T) {
	hex := strings.Repeat("0a", 32)
	manifest := result.ImageID{Digest: v1alpha1.Digest("sha256:" + hex), InRepository: true}
	config := result.ImageID{Digest: manifest.Digest}
	for id, want := range map[string]result.ImageID{
		"registry.example/server@sha256:" + hex:              manifest,
		"docker-pullable://r.example:5000/a/b@sha256:" + hex: manifest,
		"sha256:" + hex:                          config,
		"docker://sha256:" + hex:                 config,
		"":                                       {},
		"r/notes:1":                              {},
		"sha256:short":                           {},
		"xsha256:" + hex:                         {},
		"r/notes@sha256:" + hex + "0":            {},
		"r/notes@sha512:" + hex:                  {},
		"r/notes@sha256:" + strings.ToUpper(hex): {},
		"sha256:" + strings.Repeat("g", 64):      {},
	} {
		pod := newPod().runs("server").pod
		pod.Status.ContainerStatuses[0].ImageID = id
		if got := result.ReadImageID(pod); got != want {
			t.Errorf("ReadImageID of %q = %+v, want %+v", id, got, want)
		}
	}
	if got := result.ReadImageID(newPod().pod); got != (result.ImageID{}) {
		t.Errorf("ReadImageID before the kubelet knows = %+v", got)
	}
}

func TestServerOutOfMemory(t *testing.T) {
	if !result.ServerOutOfMemory(newPod().ends("server", 137, "OOMKilled", "").pod) {
		t.Error("an OOMKilled server was overlooked")
	}
	for _, pod := range []podBuilder{newPod(), newPod().runs("server"), newPod().ends("server", 125, "Error", "")} {
		if result.ServerOutOfMemory(pod.pod) {
			t.Errorf("out of memory with %+v", pod.pod.Status)
		}
	}
}

// TestOverLimit has the messages of the kubelet's eviction manager.
func TestOverLimit(t *testing.T) {
	for words, want := range map[string]bool{
		`Usage of EmptyDir volume "home" exceeds the limit "256Mi". `:                            true,
		`Container server exceeded its local ephemeral storage limit "1Gi". `:                    true,
		`Pod ephemeral local storage usage exceeds the total limit of containers 3Gi. `:          true,
		`The node was low on resource: ephemeral-storage. Threshold quantity: 1, available: 0. `: false,
	} {
		pod := newPod().phase(corev1.PodFailed, "Evicted", words).ends("runner", 137, "Error", "")
		state := result.Read(pod.pod, created.Add(time.Minute), deadlines)
		if state.Reason != "Evicted" || result.OverLimit(state.Message) != want {
			t.Errorf("%+v: over its limit = %t, want %t", state, !want, want)
		}
	}
}
