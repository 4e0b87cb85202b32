// Package result reads an audit Pod: progress and failures from its status (State, pure), and
// the report from its termination message and log (Collect).
package result

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/controllers/excerpt"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// Stage is the progress of an audit Pod.
type Stage string

// The stages. Finished and Failed are final.
const (
	// Starting: some containers are not running yet.
	Starting Stage = "Starting"
	// Running: the server is being audited.
	Running Stage = "Running"
	// Finished: the runner announced a report.
	Finished Stage = "Finished"
	// Failed: there will be no report.
	Failed Stage = "Failed"
)

// State is the state of an audit Pod.
type State struct {
	Stage Stage
	// Reason is one of the reasons of Audited=False when Failed.
	Reason report.Reason
	// Message is a sentence about the progress or the failure.
	Message string
	// Recheck is when time alone changes the state; 0 for never.
	Recheck time.Duration
}

// Deadlines bound how long a Pod may go without progress. The manager enforces them, as nothing
// else does for a Pod that no kubelet has accepted or whose node is gone.
type Deadlines struct {
	// Pull is for failing images and containers, from when a kubelet accepted the Pod.
	Pull time.Duration
	// Start is until the runner starts, from the creation.
	Start time.Duration
	// Queue is for scheduling gates, from the creation.
	Queue time.Duration
	// Run is from the start of the runner.
	Run time.Duration
}

// settle bounds how long the server's container may outlast the runner: only its status shows
// that it ran out of memory.
const settle = 10 * time.Second

// Read classifies a Pod at a time.
func Read(pod *corev1.Pod, now time.Time, deadlines Deadlines) State {
	v := view{pod: pod, now: now, deadlines: deadlines}
	for _, check := range []func(view) (State, bool){
		runnerFinished, runnerOutOfMemory, disrupted, deleted, rejected, deadlineExceeded,
		containerWaits, installFailed, runnerFailed, serverNotStarted, podFailed, gated,
	} {
		if state, decided := check(v); decided {
			return state
		}
	}
	if status := v.container(podspec.ContainerRunner); status != nil && status.State.Running != nil {
		return v.running(status.State.Running.StartedAt.Time)
	}
	return v.starting()
}

// view is a Pod with the inputs of its state.
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

// taken returns how long ago a kubelet accepted the Pod.
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
	silent := nodeSilent(v.pod)
	left := v.deadlines.Run - v.now.Sub(since)
	switch {
	case left > 0 && silent:
		return State{Stage: Running, Recheck: left, Message: fmt.Sprintf("The node %s of the audit Pod does not answer.", v.pod.Spec.NodeName)}
	case left > 0:
		return State{Stage: Running, Message: "The server is being audited.", Recheck: left}
	case silent:
		return failed(report.ReasonNodeLost, "The node %s did not answer any more while it ran the audit Pod, for up to %s",
			v.pod.Spec.NodeName, v.deadlines.Run)
	}
	return failed(report.ReasonTimeout,
		"The audit Pod was still running %s after its runner had started. Its node %s may be unreachable", v.deadlines.Run, v.pod.Spec.NodeName)
}

// starting waits for the next step, and reports at the deadline what is missing.
func (v view) starting() State {
	reason, message := report.ReasonPodFailed, "The audit Pod is starting"
	scheduled := condition(v.pod, corev1.PodScheduled)
	switch {
	case scheduled != nil && scheduled.Status == corev1.ConditionFalse:
		reason, message = report.ReasonUnschedulable, "The audit Pod cannot be scheduled: "+or(scheduled.Message, scheduled.Reason)
	case v.pod.Spec.NodeName == "":
		reason, message = report.ReasonUnschedulable, "The audit Pod waits for the scheduler, which has not looked at it yet"
	case v.pod.Status.StartTime == nil:
		reason, message = report.ReasonNodeLost, fmt.Sprintf("The audit Pod waits for the kubelet of its node %s", v.pod.Spec.NodeName)
	}
	deadline, age := v.startDeadline()
	return v.waiting(reason, message, deadline, age)
}

func (v view) waiting(reason report.Reason, message string, deadline, age time.Duration) State {
	if left := deadline - age; left > 0 {
		return State{Stage: Starting, Message: excerpt.Sentence(message), Recheck: left}
	}
	return failed(reason, "The audit Pod did not start within %s. %s", deadline, message)
}

// runnerFinished checks for success.
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

func failed(reason report.Reason, format string, args ...any) State {
	return State{Stage: Failed, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// or returns text, or otherwise if it is empty.
func or(text, otherwise string) string {
	if text = strings.TrimSpace(text); text != "" {
		return text
	}
	return cmp.Or(otherwise, "no reason was given")
}
