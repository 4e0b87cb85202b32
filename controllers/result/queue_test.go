package result_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/controllers/result"
)

// gated is as the API server leaves a Pod that somebody holds back.
func (b podBuilder) gated() podBuilder {
	b.pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/admission"}}
	b.pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated}}
	return b
}

func (b podBuilder) queue(name string) podBuilder {
	b.pod.Labels = map[string]string{"kueue.x-k8s.io/queue-name": name}
	return b
}

func (b podBuilder) scheduled(after time.Duration) podBuilder {
	b.pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(created.Add(after))}}
	return b
}

// TestReadOfAQueue: what a Pod waits for on purpose is not what it is late for.
func TestReadOfAQueue(t *testing.T) {
	waits := result.Deadlines{Pull: time.Minute, Start: 10 * time.Minute, Queue: time.Hour, Run: 8 * time.Minute}
	for _, test := range []struct {
		name    string
		pod     podBuilder
		age     time.Duration
		stage   result.Stage
		message string // a part of it
		recheck time.Duration
	}{
		{"gated", newPod().gated(), 11 * time.Minute, result.Starting, "held back by the scheduling gate kueue.x-k8s.io/admission.", 49 * time.Minute},
		{"gated by a queue", newPod().gated().queue("audits"), 11 * time.Minute, result.Starting, "(queue audits)", 49 * time.Minute},
		{"gated for too long", newPod().gated(), time.Hour, result.Failed, "did not start within 1h0m0s. The audit Pod is held back", 0},
		{"gated and deleted", newPod().gated().deleted(), time.Minute, result.Failed, "was deleted", 0},
		{"let go, no node", newPod().queue("audits").unscheduled("0/1 nodes"), 65 * time.Minute, result.Starting, "cannot be scheduled", 5 * time.Minute},
		{"let go, no node for too long", newPod().queue("audits").unscheduled("0/1 nodes"), 70 * time.Minute, result.Failed, "did not start within 1h10m0s", 0},
		{"scheduled", newPod().queue("audits").scheduled(40 * time.Minute), 45 * time.Minute, result.Starting, "is starting", 5 * time.Minute},
		{"scheduled and stuck", newPod().queue("audits").scheduled(40 * time.Minute), 50 * time.Minute, result.Failed, "did not start within 10m0s", 0},
		{"of no queue", newPod().scheduled(9 * time.Minute), 10 * time.Minute, result.Failed, "did not start within 10m0s", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := result.Read(test.pod.pod, created.Add(test.age), waits)
			if got.Stage != test.stage || got.Recheck != test.recheck || !strings.Contains(got.Message, test.message) {
				t.Errorf("Read = %+v\nwant %s, recheck %s, saying %q", got, test.stage, test.recheck, test.message)
			}
		})
	}
}
