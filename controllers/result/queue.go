package result

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// queueLabel names the queue of Kueue that holds a Pod back.
const queueLabel = "kueue.x-k8s.io/queue-name"

// gated is about a Pod that somebody holds back from the scheduler on purpose, such
// as a queue: that is not a failure to start, and takes as long as the queue is.
func gated(v view) (State, bool) {
	if len(v.pod.Spec.SchedulingGates) == 0 {
		return State{}, false
	}
	var names []string
	for _, gate := range v.pod.Spec.SchedulingGates {
		names = append(names, gate.Name)
	}
	message := fmt.Sprintf("The audit Pod is held back by the scheduling gate %s", strings.Join(names, ", "))
	if queue := v.pod.Labels[queueLabel]; queue != "" {
		message += " (queue " + queue + ")"
	}
	return v.waiting(report.ReasonUnschedulable, message, v.deadlines.Queue, v.age()), true
}

// startDeadline returns how long a Pod may take to start, and since when it has tried.
// A Pod of a queue is not late for what it waited there: it counts from when it was
// scheduled, and one that could not be yet has the time of the queue. Since when it
// has no gates no status says.
func (v view) startDeadline() (deadline, age time.Duration) {
	if v.pod.Labels[queueLabel] == "" {
		return v.deadlines.Start, v.age()
	}
	for _, c := range v.pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return v.deadlines.Start, v.now.Sub(c.LastTransitionTime.Time)
		}
	}
	return v.deadlines.Queue + v.deadlines.Start, v.age()
}
