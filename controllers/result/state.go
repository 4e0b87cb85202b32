// Package result reads what an audit Pod has to say: from its status how far it
// is and why it failed (State, pure), and from its termination message and log
// the report (Collect).
package result

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// Stage is how far an audit Pod is.
type Stage string

// The stages. Finished and Failed are final.
const (
	// Starting: not all containers run yet.
	Starting Stage = "Starting"
	// Running: the server is being audited.
	Running Stage = "Running"
	// Finished: the runner says that it left a report.
	Finished Stage = "Finished"
	// Failed: there will be no report.
	Failed Stage = "Failed"
)

// State is what a Pod's status says.
type State struct {
	Stage Stage
	// Reason is one of the reasons of Audited=False when Failed.
	Reason string
	// Message says in a sentence what is going on, or what failed.
	Message string
	// Recheck is when time alone changes the state; 0 if only the Pod does.
	Recheck time.Duration
}

// Deadlines bound how long a Pod may go without progress. They are the
// manager's own: a Pod that no kubelet has taken, or whose node is gone, has no
// other clock.
type Deadlines struct {
	// Pull is for images and containers that fail, from when a kubelet took the Pod.
	Pull time.Duration
	// Start is for everything up to the start of the runner, from the creation.
	Start time.Duration
	// Queue is for scheduling gates, from the creation.
	Queue time.Duration
	// Run is from the start of the runner.
	Run time.Duration
}

// settle is how long the server's container may take to end after the runner
// has: its status is what tells that it ran out of memory.
const settle = 10 * time.Second

// Read classifies a Pod at a time.
func Read(pod *corev1.Pod, now time.Time, deadlines Deadlines) State {
	v := view{pod: pod, now: now, deadlines: deadlines}
	for _, check := range []func(view) (State, bool){
		runnerFinished, leaving, deadlineExceeded, containerWaits, installFailed, runnerFailed, serverNotStarted, podFailed, gated, unscheduled,
	} {
		if state, decided := check(v); decided {
			return state
		}
	}
	if status := v.container(podspec.ContainerRunner); status != nil && status.State.Running != nil {
		return v.running(status.State.Running.StartedAt.Time)
	}
	return v.starting("The audit Pod is starting.")
}

// view is a Pod with what its state depends on.
type view struct {
	pod       *corev1.Pod
	now       time.Time
	deadlines Deadlines
}

func (v view) container(name string) *corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{v.pod.Status.InitContainerStatuses, v.pod.Status.ContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

func (v view) terminated(name string) *corev1.ContainerStateTerminated {
	if status := v.container(name); status != nil {
		return status.State.Terminated
	}
	return nil
}

func (v view) age() time.Duration { return v.now.Sub(v.pod.CreationTimestamp.Time) }

// taken is how long ago a kubelet took the Pod on.
func (v view) taken() time.Duration {
	if start := v.pod.Status.StartTime; start != nil {
		return v.now.Sub(start.Time)
	}
	return v.age()
}

func (v view) running(since time.Time) State {
	if since.IsZero() {
		since = v.pod.CreationTimestamp.Time
	}
	if left := v.deadlines.Run - v.now.Sub(since); left > 0 {
		return State{Stage: Running, Message: "The server is being audited.", Recheck: left}
	}
	return failed(v1alpha1.ReasonTimeout,
		"The audit Pod was still running %s after its runner had started. Its node %s may be unreachable", v.deadlines.Run, v.pod.Spec.NodeName)
}

func (v view) starting(message string) State {
	deadline, age := v.startDeadline()
	return v.waiting(message, deadline, age)
}

func (v view) waiting(message string, deadline, age time.Duration) State {
	if left := deadline - age; left > 0 {
		return State{Stage: Starting, Message: message, Recheck: left}
	}
	return State{Stage: Failed, Reason: v1alpha1.ReasonPodFailed,
		Message: fmt.Sprintf("The audit Pod did not start within %s. %s", deadline, message)}
}

func runnerFinished(v view) (State, bool) {
	runner := v.terminated(podspec.ContainerRunner)
	if runner == nil || runner.ExitCode != 0 {
		return State{}, false
	}
	ending := podspec.HasServer(v.pod) && v.terminated(podspec.ContainerServer) == nil && v.pod.DeletionTimestamp == nil
	if left := settle - v.now.Sub(runner.FinishedAt.Time); left > 0 && ending {
		return State{Stage: Running, Message: "The audit is done and its Pod is ending.", Recheck: left}, true
	}
	return State{Stage: Finished}, true
}

func leaving(v view) (State, bool) {
	return failed(v1alpha1.ReasonPodFailed, "The audit Pod was deleted before it could report, by somebody or by the eviction from its node"), v.pod.DeletionTimestamp != nil
}

func deadlineExceeded(v view) (State, bool) {
	// The kubelet's own word, see activeDeadlineSeconds.
	const reason = "DeadlineExceeded"
	if v.pod.Status.Phase != corev1.PodFailed || v.pod.Status.Reason != reason {
		return State{}, false
	}
	return failed(v1alpha1.ReasonTimeout, "The audit Pod was still running at its deadline of %d seconds, and was ended.",
		deref(v.pod.Spec.ActiveDeadlineSeconds)), true
}

// containerWaits looks for a container that the kubelet cannot start.
func containerWaits(v view) (State, bool) {
	for _, name := range []string{podspec.ContainerInstall, podspec.ContainerServer, podspec.ContainerRunner} {
		status := v.container(name)
		if status == nil || status.State.Waiting == nil {
			continue
		}
		waiting := status.State.Waiting
		switch waiting.Reason {
		case "InvalidImageName", "ErrImageNeverPull":
			return v.pullFailed(name, waiting), true
		case "ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "ImageInspectError":
			// The first failure may be a passing one: the kubelet backs off and
			// tries again.
			if v.taken() >= v.deadlines.Pull && waiting.Reason != "ErrImagePull" {
				return v.pullFailed(name, waiting), true
			}
			return State{Stage: Starting, Recheck: max(v.deadlines.Pull-v.taken(), time.Second),
				Message: fmt.Sprintf("The %s could not be pulled yet, and is tried again: %s", v.image(name), said(waiting))}, true
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "CreateSandboxError":
			if v.taken() >= v.deadlines.Pull {
				return failed(v1alpha1.ReasonSandboxFailed, "The container %s could not be started: %s", name, said(waiting)), true
			}
			return State{Stage: Starting, Recheck: max(v.deadlines.Pull-v.taken(), time.Second),
				Message: fmt.Sprintf("The container %s could not be started yet, and is tried again: %s", name, said(waiting))}, true
		}
	}
	return State{}, false
}

func (v view) pullFailed(name string, waiting *corev1.ContainerStateWaiting) State {
	return failed(v1alpha1.ReasonImagePullFailed, "The %s could not be pulled: %s", v.image(name), said(waiting))
}

// image says whose image it is: the runner's is the operator's to repair.
func (v view) image(container string) string {
	for _, list := range [][]corev1.Container{v.pod.Spec.InitContainers, v.pod.Spec.Containers} {
		for _, c := range list {
			if c.Name != container {
				continue
			}
			if container == podspec.ContainerServer {
				return "server image " + c.Image
			}
			return "runner image " + c.Image + " (the manager's --runner-image)"
		}
	}
	return "image"
}

func installFailed(v view) (State, bool) {
	install := v.terminated(podspec.ContainerInstall)
	if install == nil || install.ExitCode == 0 {
		return State{}, false
	}
	return failed(v1alpha1.ReasonSandboxFailed, "The sandbox could not be prepared (exit status %d): %s", install.ExitCode, ended(install)), true
}

func runnerFailed(v view) (State, bool) {
	runner := v.terminated(podspec.ContainerRunner)
	switch {
	case runner == nil:
		return State{}, false
	case runner.Reason == "OOMKilled":
		return failed(v1alpha1.ReasonOOMKilled, "The runner ran out of memory before it could report."), true
	case evicted(v.pod):
		return State{}, false // podFailed knows more
	}
	return failed(v1alpha1.ReasonPodFailed, "The runner ended without a report (exit status %d): %s", runner.ExitCode, ended(runner)), true
}

// serverNotStarted is about a container that the runtime could not start. Once
// the shim runs, it is the runner that says what becomes of the server.
func serverNotStarted(v view) (State, bool) {
	server := v.terminated(podspec.ContainerServer)
	if server == nil || server.Reason != "StartError" && server.Reason != "ContainerCannotRun" {
		return State{}, false
	}
	return failed(v1alpha1.ReasonSandboxFailed, "The container of the server could not be started: %s", ended(server)), true
}

func podFailed(v view) (State, bool) {
	if v.pod.Status.Phase != corev1.PodFailed && v.pod.Status.Phase != corev1.PodSucceeded {
		return State{}, false
	}
	if server := v.terminated(podspec.ContainerServer); server != nil && server.Reason == "OOMKilled" && !evicted(v.pod) {
		return failed(v1alpha1.ReasonOOMKilled, "The server ran out of memory."), true
	}
	message := strings.TrimSpace(v.pod.Status.Reason + " " + v.pod.Status.Message)
	if message == "" {
		message = "no reason was given"
	}
	return failed(v1alpha1.ReasonPodFailed, "The audit Pod ended without a report: %s", message), true
}

// evicted tells whether the kubelet gave the Pod up as a whole.
func evicted(pod *corev1.Pod) bool { return pod.Status.Reason != "" }

func unscheduled(v view) (State, bool) {
	for _, c := range v.pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return v.starting("The audit Pod cannot be scheduled: " + c.Message), true
		}
	}
	return State{}, false
}

func failed(reason, format string, args ...any) State {
	return State{Stage: Failed, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

func said(waiting *corev1.ContainerStateWaiting) string {
	if waiting.Message == "" {
		return waiting.Reason
	}
	return waiting.Reason + ": " + waiting.Message
}

func ended(terminated *corev1.ContainerStateTerminated) string {
	if message := strings.TrimSpace(terminated.Message); message != "" {
		return message
	}
	if terminated.Reason != "" {
		return terminated.Reason
	}
	return "no reason was given"
}

func deref(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}
