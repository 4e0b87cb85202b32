package cluster_test

import (
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
)

func aPod(server corev1.ContainerState) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "mcpaudit-runs", Name: "notes-3", UID: "pod"},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "install"}}, Containers: []corev1.Container{{Name: "server"}, {Name: "runner"}},
		},
		Status: corev1.PodStatus{
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "install", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}},
			ContainerStatuses: []corev1.ContainerStatus{
				{Name: "server", State: server}, {Name: "runner", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			},
		},
	}
}

func TestLogs(t *testing.T) {
	s := team(t)
	s.add(aPod(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image" + hostile}}))
	s.logs["runner"] = "mcpaudit-runner: starting" + hostile + "\n" + report.FrameBegin + "\nH4sIAAAA\n" + report.FrameEnd + "\ndone, " + strings.Repeat("x", 5000)
	compare(t, "logs", s.call("logs", "notes"))

	s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/api/v1") {
			return false
		}
		refusal(w, http.StatusForbidden, metav1.StatusReasonForbidden, `pods is forbidden: User "eve" cannot list resource "pods" in API group "" in the namespace "mcpaudit-runs"`)
		return true
	}
	compare(t, "logs-forbidden", s.call("logs", "notes"))
}

// To follow is to wait for what has not begun.
func TestLogsFollow(t *testing.T) {
	s := team(t)
	s.add(aPod(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}))
	s.logs["server"] = "listening\n"
	s.onGet = func(path string) {
		if pod, ok := s.objects[path].(*corev1.Pod); ok {
			pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		}
	}
	if o := s.call("logs", "notes", "-f"); o.code != 0 || !strings.Contains(o.stdout, "server   listening\n") {
		t.Errorf("%+v", o)
	}
}
