//go:build envtest

package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/audit"
	"github.com/mcpaudit/mcpaudit/controllers/health"
	"github.com/mcpaudit/mcpaudit/controllers/imageref"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/options"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/controllers/slots"
)

func sha(s string) string { return "sha256:" + strings.Repeat(s, 64/len(s)) }

// fakeImages is a registry with one answer.
type fakeImages struct {
	image   imageref.Image
	err     error
	secrets []corev1.Secret // that the last question came with
	asked   int             // for a digest alone
}

func (f *fakeImages) Resolve(_ context.Context, _ string, secrets []corev1.Secret) (imageref.Image, error) {
	f.secrets = secrets
	return f.image, f.err
}

func (f *fakeImages) Digest(ctx context.Context, image string, secrets []corev1.Secret) (string, error) {
	f.asked++
	found, err := f.Resolve(ctx, image, secrets)
	return found.Digest, err
}

// fakeLogs holds the logs of the Pods by name.
type fakeLogs struct {
	sync.Mutex
	text map[string]string
}

func (f *fakeLogs) Open(_ context.Context, _, pod, _ string) (io.ReadCloser, error) {
	f.Lock()
	defer f.Unlock()
	text, ok := f.text[pod]
	if !ok {
		return nil, errors.New("connection refused")
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func (f *fakeLogs) write(pod, text string) {
	f.Lock()
	defer f.Unlock()
	f.text[pod] = text
}

// recorder keeps the events as "Reason: note".
type recorder struct {
	sync.Mutex
	events []string
}

func (r *recorder) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	r.Lock()
	defer r.Unlock()
	r.events = append(r.events, reason+": "+fmt.Sprintf(note, args...))
}

func (r *recorder) list() []string {
	r.Lock()
	defer r.Unlock()
	return append([]string(nil), r.events...)
}

// bench is one audit with a reconciler around it whose surroundings are fakes:
// the specs are the kubelet and the runner. Reconciling is a call, so that a
// spec knows when it is over; manager_test.go has the same with a work queue.
type bench struct {
	*audit.Reconciler
	images *fakeImages
	logs   *fakeLogs
	events *recorder
	key    client.ObjectKey
}

func newReconciler(reader client.Client) (*audit.Reconciler, *fakeImages, *fakeLogs, *recorder) {
	images := &fakeImages{image: imageref.Image{
		Reference: "registry.example/notes@" + sha("a"), Digest: sha("a"), Manifest: sha("a"), ID: sha("c"),
		Entrypoint: []string{"/notes"}, Cmd: []string{"--stdio"},
	}}
	logs, events := &fakeLogs{text: map[string]string{}}, &recorder{}
	opts := options.Default()
	opts.Slots, opts.NamespaceSlots = 1000, 1000 // the Pods of other specs stand in nobody's way
	opts.RunNamespace, opts.RunnerImage = runNamespace, "registry.example/runner:v1"
	opts.ImageCheckInterval = 0 // the specs about it turn it on
	opts.Allowed.URLs = true    // so do those about what is allowed, but for this
	return &audit.Reconciler{
		Client: reader, Live: reader, Images: images, Logs: logs, Events: events, Options: opts, Clock: clock.RealClock{},
		Slots:   slots.New(slots.Limits{Total: opts.Slots, PerNamespace: opts.NamespaceSlots}),
		Metrics: metrics.New(prometheus.NewRegistry()), Watchdog: health.NewWatchdog(clock.RealClock{}),
	}, images, logs, events
}

// newBench creates an audit in a namespace of its own.
func newBench(ctx context.Context, change ...func(*v1alpha1.MCPServerAudit)) *bench {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "team-"}}
	Expect(api.Create(ctx, namespace)).To(Succeed())
	object := &v1alpha1.MCPServerAudit{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "notes"},
		Spec:       v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "registry.example/notes:v1"}},
	}
	for _, c := range change {
		c(object)
	}
	Expect(api.Create(ctx, object)).To(Succeed())
	b := &bench{key: client.ObjectKeyFromObject(object)}
	b.Reconciler, b.images, b.logs, b.events = newReconciler(api)
	return b
}

func (b *bench) reconcile(ctx context.Context) ctrl.Result {
	GinkgoHelper()
	outcome, err := b.Reconcile(ctx, ctrl.Request{NamespacedName: b.key})
	Expect(err).NotTo(HaveOccurred())
	return outcome
}

func (b *bench) audit(ctx context.Context) *v1alpha1.MCPServerAudit {
	GinkgoHelper()
	object := &v1alpha1.MCPServerAudit{}
	Expect(api.Get(ctx, b.key, object)).To(Succeed())
	return object
}

// change edits the object as a user would, again if the manager was faster.
func (b *bench) change(ctx context.Context, edit func(*v1alpha1.MCPServerAudit)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		object := b.audit(ctx)
		edit(object)
		return api.Update(ctx, object)
	})).To(Succeed())
}

func (b *bench) request(ctx context.Context, at string) {
	GinkgoHelper()
	b.change(ctx, func(a *v1alpha1.MCPServerAudit) {
		a.Annotations = map[string]string{v1alpha1.RequestedAtAnnotation: at}
	})
}

func (b *bench) pods(ctx context.Context) []corev1.Pod {
	GinkgoHelper()
	var pods corev1.PodList
	Expect(api.List(ctx, &pods, client.InNamespace(runNamespace), client.MatchingLabels{podspec.LabelNamespace: b.key.Namespace})).To(Succeed())
	return pods.Items
}

func (b *bench) pod(ctx context.Context) *corev1.Pod {
	GinkgoHelper()
	pods := b.pods(ctx)
	Expect(pods).To(HaveLen(1), "audit Pods")
	return &pods[0]
}

func (b *bench) reports(ctx context.Context) []v1alpha1.MCPAuditReport {
	GinkgoHelper()
	var reports v1alpha1.MCPAuditReportList
	Expect(api.List(ctx, &reports, client.InNamespace(b.key.Namespace))).To(Succeed())
	return reports.Items
}

// status writes what a kubelet would.
func (b *bench) status(ctx context.Context, pod *corev1.Pod, set func(*corev1.PodStatus)) {
	GinkgoHelper()
	set(&pod.Status)
	Expect(api.Status().Update(ctx, pod)).To(Succeed())
}

// backdate lets the audit in progress have begun an hour ago.
func (b *bench) backdate(ctx context.Context) {
	GinkgoHelper()
	a := b.audit(ctx)
	meta.FindStatusCondition(a.Status.Conditions, v1alpha1.ConditionAuditing).LastTransitionTime = metav1.NewTime(time.Now().Add(-time.Hour))
	Expect(api.Status().Update(ctx, a)).To(Succeed())
}

func (b *bench) intercept(with interceptor.Funcs) client.Client {
	GinkgoHelper()
	withWatch, err := client.NewWithWatch(config, client.Options{Scheme: api.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return interceptor.NewClient(withWatch, with)
}

// refuses lets a webhook deny a kind, as many do: with neither code nor reason of
// their own, for which the API server says 400.
func (b *bench) refuses(kind string) {
	GinkgoHelper()
	b.Client = b.intercept(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			gvk, err := c.GroupVersionKindFor(object)
			if err != nil || gvk.Kind != kind {
				return c.Create(ctx, object, options...)
			}
			return &apierrors.StatusError{ErrStatus: metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusBadRequest, Message: `admission webhook "policy.example" denied the request: no tracing here`,
			}}
		},
	})
}

func running(name string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Image: name, ImageID: "registry.example/notes@" + sha("a"),
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func waits(name, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Image: name,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

func ended(name string, code int32, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Image: name, ImageID: "registry.example/notes@" + sha("a"),
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Reason: reason, Message: message, FinishedAt: metav1.Now(),
		}}}
}

// finish lets the runner leave a report, as the termination message and the log.
func (b *bench) finish(ctx context.Context, pod *corev1.Pod, r report.Report) {
	GinkgoHelper()
	summary, log := written(r)
	b.logs.write(pod.Name, log)
	b.status(ctx, pod, func(s *corev1.PodStatus) {
		s.Phase = corev1.PodFailed // the shim ends with a status of its own
		s.ContainerStatuses = []corev1.ContainerStatus{
			ended(podspec.ContainerServer, 125, "Error", ""), ended(podspec.ContainerRunner, 0, "Completed", summary),
		}
	})
}

func written(r report.Report) (summary, log string) {
	GinkgoHelper()
	encoded, err := report.Encode(r)
	Expect(err).NotTo(HaveOccurred())
	message, err := report.Summarise(r, encoded).Encode()
	Expect(err).NotTo(HaveOccurred())
	var frame bytes.Buffer
	Expect(report.WriteFrame(&frame, encoded)).To(Succeed())
	return string(message), frame.String()
}

// audited runs one whole audit with the given outcome.
func (b *bench) audited(ctx context.Context, r report.Report) {
	GinkgoHelper()
	b.reconcile(ctx)
	b.ends(ctx, r)
}

// ends lets the audit in progress end with the given outcome.
func (b *bench) ends(ctx context.Context, r report.Report) {
	GinkgoHelper()
	b.finish(ctx, b.pod(ctx), r)
	b.reconcile(ctx)
	Expect(b.pods(ctx)).To(BeEmpty())
}

// clean is the report of an honest server with one tool.
func clean(change ...func(*report.Report)) report.Report {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := report.Report{
		Server:  report.ServerRun{Name: "notes", Version: "1", ProtocolVersion: "2025-11-25", Command: []string{"/notes"}},
		Verdict: report.VerdictPass, Reason: report.ReasonPassed, Message: "no findings", FailOn: report.SeverityHigh,
		StartTime: report.At(at), EndTime: report.At(at.Add(3 * time.Second)), ManifestDigest: sha("1"),
		Runner: report.Component{Name: "mcpaudit", Version: "v0.1.0"}, Tracer: report.Component{Name: "strace", Version: "6.1"},
		Network:  report.NetworkDeny,
		Manifest: report.Manifest{Digest: sha("1"), Tools: []report.Item{{Name: "format_note", Digest: sha("2")}}},
		Coverage: report.Coverage{Tools: report.Exercised{Listed: 1, Called: 1, Accepted: 1}},
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

// leaks makes it the report of the leaky server.
func leaks(r *report.Report) {
	r.Verdict, r.Reason, r.Message = report.VerdictFail, report.ReasonFindingsAboveThreshold, "2 findings"
	for _, f := range []struct{ rule, message, syscall string }{
		{"MCPA-READ-001", "Tool format_note read /home/ellis/.ssh/id_rsa", "openat"},
		{"MCPA-EGRESS-001", "Tool format_note connected to 93.184.216.34:80, although it is declared local", "connect"},
	} {
		r.Findings = append(r.Findings, report.Finding{
			Rule: f.rule, Severity: report.SeverityHigh, Title: "t", Message: f.message, Phase: report.PhaseCall,
			Capability: report.Capability{Kind: report.CapabilityTool, Name: "format_note"},
			Evidence:   []report.Evidence{{Time: r.StartTime, PID: 7, Syscall: f.syscall, Detail: f.syscall + "(...)", Attribution: report.AttributionInFlight}},
		})
	}
}

// advertises gives the report another manifest.
func advertises(manifest, tool string) func(*report.Report) {
	return func(r *report.Report) {
		r.ManifestDigest, r.Manifest.Digest, r.Manifest.Tools[0].Digest = manifest, manifest, tool
	}
}

// haveCondition matches an object with a condition about its generation.
func haveCondition(conditionType, reason string) OmegaMatcher {
	return WithTransform(func(a *v1alpha1.MCPServerAudit) string {
		if c := meta.FindStatusCondition(a.Status.Conditions, conditionType); c != nil {
			return c.Reason
		}
		return ""
	}, Equal(reason))
}

func message(a *v1alpha1.MCPServerAudit, conditionType string) string {
	if c := meta.FindStatusCondition(a.Status.Conditions, conditionType); c != nil {
		return c.Message
	}
	return ""
}

// kstatus returns what Flux and others make of an object.
func kstatus(a *v1alpha1.MCPServerAudit) status.Status {
	GinkgoHelper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(a)
	Expect(err).NotTo(HaveOccurred())
	computed, err := status.Compute(&unstructured.Unstructured{Object: object})
	Expect(err).NotTo(HaveOccurred())
	AddReportEntry("kstatus", computed.Message, ReportEntryVisibilityFailureOrVerbose)
	return computed.Status
}
