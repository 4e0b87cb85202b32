package result

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// queueLabel names the Kueue queue of a Pod.
const queueLabel = "kueue.x-k8s.io/queue-name"

// gated checks for scheduling gates, such as those of a queue: waiting for them is no failure
// to start.
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

// startDeadline returns how long a Pod may take to start, and for how long it has tried. Time
// in a queue does not count: it starts when the Pod is scheduled, and an unscheduled Pod has
// the queue's deadline, as no status says when its gates were removed.
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
