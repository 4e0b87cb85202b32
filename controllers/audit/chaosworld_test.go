package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/controllers/slots"
)

// killed ends a manager in the middle of a call.
type killed struct{}

// fault makes one call of the API fail.
type fault struct {
	name string
	// answer for the manager; nil to be killed.
	answer func(call) error
	// applied is set if the API server does what it was asked to before.
	applied bool
	// calls is the number of calls in a row that it happens to.
	calls int
}

// call is one request to the API server.
type call struct{ verb, kind string }

func (c call) String() string { return c.verb + " " + c.kind }

func (c call) writes() bool { return c.verb != "get" && c.verb != "list" }

// world is a cluster with one audit: an API server that fails at a chosen call, a
// kubelet whose servers answer at once, and whatever survives the manager.
type world struct {
	t       *testing.T
	manager *Reconciler
	api     client.WithWatch // past all faults
	key     client.ObjectKey
	clock   *clocktesting.FakePassiveClock
	outcome report.Report

	fault fault
	// at is the number of the call that fails, the first being 1; 0 for none.
	at    int
	calls []call
	// aside is set while calls neither fail nor count.
	aside bool

	logs    map[string]string
	events  []string
	created []*corev1.Pod // all that ever were
	uids    int
}

var worldScheme = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
})

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, key: client.ObjectKey{Namespace: "team-a", Name: "notes"}, logs: map[string]string{}}
	w.clock = clocktesting.NewFakePassiveClock(start)
	audit := &v1alpha1.MCPServerAudit{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.key.Namespace, Name: w.key.Name, UID: "6d1b3c7e", Generation: 1},
		Spec: v1alpha1.MCPServerAuditSpec{
			Server: v1alpha1.Server{Image: "registry.example/notes:v1", ImagePullSecrets: []v1alpha1.SecretReference{{Name: "registry"}}},
			FailOn: "High", Timeout: metav1.Duration{Duration: 5 * time.Minute}, Baseline: v1alpha1.Baseline{Mode: v1alpha1.BaselineTrustOnFirstUse},
		},
		Status: v1alpha1.MCPServerAuditStatus{ObservedGeneration: -1},
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.key.Namespace, Name: "registry"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)},
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "mcpaudit-runs"}}
	w.api = fake.NewClientBuilder().WithScheme(worldScheme()).WithStatusSubresource(audit).WithObjects(namespace, secret, audit).Build()
	w.start()
	return w
}

// start starts a manager that remembers nothing.
func (w *world) start() {
	opts := options.Default()
	opts.RunnerImage = "registry.example/runner:v1"
	faulty := interceptor.NewClient(w.api, w.funcs())
	w.manager = &Reconciler{
		Client: faulty, Live: faulty, Images: w, Logs: w, Events: w, Options: opts, Clock: w.clock,
		Slots:   slots.New(slots.Limits{Total: opts.Slots, PerNamespace: opts.NamespaceSlots}),
		Metrics: metrics.New(prometheus.NewRegistry()),
	}
}

// Resolve implements Images.
func (w *world) Resolve(context.Context, string, []corev1.Secret) (imageref.Image, error) {
	digest := "sha256:" + strings.Repeat("a", 64)
	return imageref.Image{
		Reference: "registry.example/notes@" + digest, Digest: digest, Manifest: digest, Entrypoint: []string{"/notes"},
		Platform: "linux/amd64", Several: true,
	}, nil
}

// Digest implements Images.
func (w *world) Digest(ctx context.Context, image string, secrets []corev1.Secret) (string, error) {
	found, err := w.Resolve(ctx, image, secrets)
	return found.Digest, err
}

// Open implements result.Logs.
func (w *world) Open(_ context.Context, _, pod, _ string) (io.ReadCloser, error) {
	var text string
	err := w.do(call{"get", "log"}, func() error {
		var ok bool
		if text, ok = w.logs[pod]; !ok {
			return errors.New("container not found")
		}
		return nil
	})
	return io.NopCloser(strings.NewReader(text)), err
}

// Eventf implements events.EventRecorder.
func (w *world) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	w.events = append(w.events, reason+": "+fmt.Sprintf(note, args...))
}

// do makes one call, or fails it.
func (w *world) do(c call, make func() error) error {
	if w.aside {
		return make()
	}
	w.calls = append(w.calls, c)
	if n := len(w.calls); w.at == 0 || n < w.at || n >= w.at+w.fault.calls {
		return make()
	}
	if w.fault.applied {
		if err := make(); err != nil {
			return err
		}
	}
	if w.fault.answer == nil {
		panic(killed{})
	}
	return w.fault.answer(c)
}

func kindOf(object any) string {
	if unstructured, ok := object.(interface {
		GroupVersionKind() schema.GroupVersionKind
	}); ok {
		if kind := unstructured.GroupVersionKind().Kind; kind != "" {
			return kind
		}
	}
	name := fmt.Sprintf("%T", object)
	return name[strings.LastIndex(name, ".")+1:]
}

// funcs are the calls of a client, and what an API server does that the fake one
// does not.
func (w *world) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			return w.do(call{"get", kindOf(o)}, func() error { return c.Get(ctx, key, o, options...) })
		},
		List: func(ctx context.Context, c client.WithWatch, o client.ObjectList, options ...client.ListOption) error {
			return w.do(call{"list", kindOf(o)}, func() error { return c.List(ctx, o, options...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			return w.do(call{"create", kindOf(o)}, func() error {
				w.uids++
				o.SetUID(types.UID(fmt.Sprintf("uid-%d", w.uids)))
				o.SetCreationTimestamp(metav1.NewTime(w.clock.Now().Truncate(time.Second)))
				err := c.Create(ctx, o, options...)
				if pod, ok := o.(*corev1.Pod); ok && err == nil {
					w.created = append(w.created, pod.DeepCopy())
				}
				return err
			})
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			return w.do(call{"delete", kindOf(o)}, func() error { return c.Delete(ctx, o, options...) })
		},
		DeleteAllOf: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteAllOfOption) error {
			return w.do(call{"deletecollection", kindOf(o)}, func() error { return c.DeleteAllOf(ctx, o, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			return w.do(call{"patch", kindOf(o)}, func() error { return c.Patch(ctx, o, patch, options...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			return w.do(call{"apply", kindOf(o)}, func() error { return c.Apply(ctx, o, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			return w.do(call{"patch", kindOf(o) + "/" + name}, func() error { return c.SubResource(name).Patch(ctx, o, patch, options...) })
		},
	}
}

// reconcile lets the manager look at the audit once, and another one after it if
// it is killed. It returns when to look again.
func (w *world) reconcile() (after time.Duration, err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case killed:
			w.start()
			after, err = time.Second, errors.New("killed")
		default:
			panic(cause)
		}
	}()
	outcome, err := w.manager.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: w.key})
	return max(outcome.RequeueAfter, time.Second), err
}

func (w *world) audit() *v1alpha1.MCPServerAudit {
	w.t.Helper()
	audit := &v1alpha1.MCPServerAudit{}
	if err := w.api.Get(w.t.Context(), w.key, audit); err != nil {
		w.t.Fatal(err)
	}
	return audit
}

// list are the objects of a kind in a namespace.
func list[T client.ObjectList](w *world, into T, namespace string) T {
	w.t.Helper()
	if err := w.api.List(w.t.Context(), into, client.InNamespace(namespace)); err != nil {
		w.t.Fatal(err)
	}
	return into
}

// audited reconciles until the audit is decided, and some more; it returns the
// calls that were made after that.
func (w *world) audited(requested string) []call {
	w.t.Helper()
	for range 200 {
		after, err := w.reconcile()
		w.clock.SetTime(w.clock.Now().Add(min(after, 20*time.Second))) // or a watch tells
		w.watched()
		w.finish()
		if err != nil {
			continue
		}
		if status := w.audit().Status; status.Verdict == "" || status.LastHandledReconcileAt != requested || w.finish() > 0 {
			continue
		}
		made := len(w.calls)
		w.fault.calls = 0 // what is still to fail comes too late
		for range 3 {
			if _, err := w.reconcile(); err != nil {
				w.t.Fatalf("after the verdict: %v", err)
			}
		}
		return w.calls[made:]
	}
	w.t.Fatalf("not decided: %+v\nevents %q", w.audit().Status.Conditions, w.events)
	return nil
}

// watched returns what the manager does beside its reconciliations: it sees Pods come
// and go, and looks after the slots.
func (w *world) watched() {
	w.t.Helper()
	w.aside = true
	defer func() { w.aside = false }()
	for _, pod := range w.created {
		if err := w.manager.Slots.Seen(w.clock.Now(), pod.Name, pod.UID, w.manager.snapshot(w.t.Context())); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := (&slotSweeper{Reconciler: w.manager}).tend(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// finish is the kubelet, and the runner. It returns how many Pods there are.
func (w *world) finish() int {
	w.t.Helper()
	pods := list(w, &corev1.PodList{}, "mcpaudit-runs").Items
	for _, pod := range pods {
		if pod.Status.Phase == corev1.PodFailed {
			continue
		}
		left := leave(w.outcome)
		w.logs[pod.Name] = left.log
		ends := func(name string, code int32, message string) corev1.ContainerStatus {
			return corev1.ContainerStatus{Name: name, ImageID: "registry.example/notes@sha256:" + strings.Repeat("a", 64),
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message, FinishedAt: metav1.NewTime(w.clock.Now())}}}
		}
		pod.Status.Phase = corev1.PodFailed
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{ends(podspec.ContainerServer, 125, ""), ends(podspec.ContainerRunner, 0, left.summary)}
		if err := w.api.Status().Update(w.t.Context(), &pod); err != nil {
			w.t.Fatal(err)
		}
	}
	return len(pods)
}

// left holds the termination message and the log of a runner.
type left struct{ summary, log string }

func leave(r report.Report) left {
	encoded, err := report.Encode(r)
	utilruntime.Must(err)
	summary, err := report.Summarise(r, encoded).Encode()
	utilruntime.Must(err)
	var log bytes.Buffer
	utilruntime.Must(report.WriteFrame(&log, encoded))
	return left{string(summary), log.String()}
}

// answers gives every call one answer of the API server.
func answers(code func(kind schema.GroupResource, name string) *apierrors.StatusError) func(call) error {
	return func(c call) error { return code(schema.GroupResource{Resource: c.kind}, "x") }
}
