//go:build envtest

package drift_test

import (
	"context"
	"fmt"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/audit"
	"github.com/mcpaudit/mcpaudit/controllers/discovery"
	"github.com/mcpaudit/mcpaudit/controllers/drift"
	"github.com/mcpaudit/mcpaudit/controllers/exception"
	"github.com/mcpaudit/mcpaudit/controllers/index"
	"github.com/mcpaudit/mcpaudit/controllers/recorder"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

var (
	api    client.Client
	config *rest.Config
)

// startManager runs the controllers that write the status of policies and exceptions
// as cmd/manager does, as the service account of config/rbac. The caller stops it.
func startManager(ctx context.Context, changes ...func(*drift.Reconciler)) (running *drift.Reconciler, stop func()) {
	GinkgoHelper()
	manager := testenv.Manager("mcpaudit-manager", ctrl.Options{
		Cache: cache.Options{ByObject: audit.CacheOptions(testenv.RunNamespace), DefaultTransform: audit.Strip},
	})
	pods := rest.CopyConfig(manager.GetConfig())
	pods.ContentType = "application/vnd.kubernetes.protobuf"
	clients, err := kubernetes.NewForConfig(pods)
	Expect(err).NotTo(HaveOccurred())
	store, events := index.New(), recorder.New(manager.GetClient(), clock.RealClock{})
	running = &drift.Reconciler{
		Client: manager.GetClient(), Pods: clients.CoreV1().RESTClient(), Index: store, Events: events,
		Clock: clock.RealClock{},
	}
	for _, change := range changes {
		change(running)
	}
	for _, controller := range []interface{ SetupWithManager(ctrl.Manager) error }{
		store, running,
		&exception.Reconciler{Client: manager.GetClient(), Events: events, Clock: clock.RealClock{}},
		&discovery.Reconciler{Client: manager.GetClient(), Live: manager.GetAPIReader(), Events: events, Clock: clock.RealClock{}},
	} {
		Expect(controller.SetupWithManager(manager)).To(Succeed())
	}
	return running, testenv.Run(ctx, manager)
}

// namespaceFor makes a namespace for one spec, in the gate or not.
func namespaceFor(ctx context.Context, gated bool) string {
	GinkgoHelper()
	if gated {
		return testenv.Namespace(ctx, map[string]string{v1alpha1.GateLabel: v1alpha1.GateEnabled})
	}
	return testenv.Namespace(ctx, nil)
}

func digest(n int) v1alpha1.Digest { return v1alpha1.Digest(fmt.Sprintf("sha256:%064x", n)) }

// runPod makes a Pod that runs, as a kubelet would say, an image by its digest.
func runPod(ctx context.Context, namespace, name string, image int) *corev1.Pod {
	GinkgoHelper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "server", Image: "registry.example/notes:1@" + string(digest(image))}}}}
	Expect(api.Create(ctx, pod)).To(Succeed())
	report(ctx, pod, image)
	return pod
}

func report(ctx context.Context, pod *corev1.Pod, image int) {
	GinkgoHelper()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "server", Image: "registry.example/notes:1",
		ImageID: "registry.example/notes@" + string(digest(image)), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}}}
	Expect(api.Status().Update(ctx, pod)).To(Succeed())
}

// decided makes an audit with a verdict on an image: findings that are high.
func decided(ctx context.Context, namespace, name string, image int, high int32) {
	GinkgoHelper()
	a := &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	err := api.Get(ctx, client.ObjectKeyFromObject(a), a)
	if err != nil {
		a.Spec.Server.Image = "registry.example/notes:1"
		Expect(api.Create(ctx, a)).To(Succeed())
	}
	passed := high == 0
	a.Status.ObservedGeneration, a.Status.Verdict, a.Status.ImageDigest = a.Generation, v1alpha1.VerdictPass, digest(image)
	counts := v1alpha1.FindingCounts{High: high}
	a.Status.Findings, a.Status.LastAuditTime = &counts, new(metav1.Now())
	a.Status.Audited = &v1alpha1.AuditedServer{Image: a.Spec.Server.Image, Digests: []v1alpha1.Digest{digest(image)},
		CommandDigest: v1alpha1.CommandDigest(nil, nil), Unsuppressed: &counts}
	a.Status.Conditions = nil
	for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionAudited, v1alpha1.ConditionManifestStable} {
		c := metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "Passed", ObservedGeneration: a.Generation}
		if kind == v1alpha1.ConditionReady && !passed {
			c.Status, c.Reason = metav1.ConditionFalse, v1alpha1.ReasonFindingsAboveThreshold
		}
		if kind == v1alpha1.ConditionAudited {
			c.Reason = "Completed"
		}
		meta.SetStatusCondition(&a.Status.Conditions, c)
	}
	if !passed {
		a.Status.Verdict = v1alpha1.VerdictFail
	}
	Expect(api.Status().Update(ctx, a)).To(Succeed())
}

// statusOf returns what kstatus makes of an object as the API server has it.
func statusOf(ctx context.Context, object client.Object) status.Status {
	GinkgoHelper()
	gvk, err := api.GroupVersionKindFor(object)
	Expect(err).NotTo(HaveOccurred())
	read := &unstructured.Unstructured{}
	read.SetGroupVersionKind(gvk)
	Expect(api.Get(ctx, client.ObjectKeyFromObject(object), read)).To(Succeed())
	return compute(read)
}

func compute(object *unstructured.Unstructured) status.Status {
	GinkgoHelper()
	result, err := status.Compute(object)
	Expect(err).NotTo(HaveOccurred())
	return result.Status
}

// made makes an object, which kstatus must not take for settled before any controller
// has seen it.
func made(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(api.Create(ctx, object)).To(Succeed())
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	Expect(err).NotTo(HaveOccurred())
	Expect(compute(&unstructured.Unstructured{Object: content})).To(Equal(status.InProgressStatus), "a new object")
}

// settled waits until Ready has a reason, and returns the object as it is then.
func settled[T interface {
	client.Object
	GetConditions() []metav1.Condition
}](ctx context.Context, object T, reason string) T {
	GinkgoHelper()
	testenv.Eventually(ctx, func(g Gomega) {
		g.Expect(api.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		ready := meta.FindStatusCondition(object.GetConditions(), v1alpha1.ConditionReady)
		g.Expect(ready).NotTo(BeNil())
		g.Expect(ready.Reason).To(Equal(reason), ready.Message)
		g.Expect(ready.ObservedGeneration).To(Equal(object.GetGeneration()))
	})
	return object
}

// eventsOf are the events about an object, oldest first.
func eventsOf(ctx context.Context, object client.Object) []string {
	GinkgoHelper()
	var list eventsv1.EventList
	Expect(api.List(ctx, &list)).To(Succeed())
	var notes []string
	for _, e := range list.Items {
		if e.Regarding.UID == object.GetUID() {
			notes = append(notes, e.Reason+": "+e.Note)
		}
	}
	return notes
}
