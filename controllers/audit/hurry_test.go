package audit

import (
	"context"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

// TestHurry has audits that hold a slot go before those that were there first.
func TestHurry(t *testing.T) {
	named := func(name string) reconcile.Request {
		return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team", Name: name}}
	}
	podOf := func(name string) client.Object {
		record, err := json.Marshal(podspec.Run{Audit: named(name).NamespacedName})
		if err != nil {
			t.Fatal(err)
		}
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"mcpaudit.dev/run-record": string(record)}}}
	}
	queue := priorityqueue.New[reconcile.Request](t.Name())
	defer queue.ShutDown()
	for _, name := range []string{"first", "second", "running", "starting", "ending", "woken"} {
		queue.Add(named(name))
	}
	pods := hurryAudits()
	pods.Create(context.Background(), event.CreateEvent{Object: podOf("starting"), IsInInitialList: true}, queue)
	pods.Update(context.Background(), event.UpdateEvent{ObjectOld: podOf("running"), ObjectNew: podOf("running")}, queue)
	pods.Delete(context.Background(), event.DeleteEvent{Object: podOf("ending")}, queue)
	hurry(queue, named("woken"))
	for _, want := range []string{"starting", "running", "ending", "woken", "first", "second"} {
		got, shutdown := queue.Get()
		if shutdown || got != named(want) {
			t.Fatalf("the queue gave %s, want %s", got.Name, want)
		}
		queue.Done(got)
	}
}
