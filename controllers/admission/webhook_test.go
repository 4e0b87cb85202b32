//go:build envtest

package admission_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/certs"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

const (
	honest = "registry.example/honest:1@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	leaky  = "registry.example/leaky:1@sha256:2222222222222222222222222222222222222222222222222222222222222222"
)

// world is a namespace in the gate with an audit that passed and one that failed.
type world struct{ namespace string }

func newWorld(ctx context.Context, mode v1alpha1.GateMode) world {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "team-", Labels: map[string]string{v1alpha1.GateLabel: v1alpha1.GateEnabled}}}
	Expect(api.Create(ctx, namespace)).To(Succeed())
	w := world{namespace.Name}
	Expect(api.Create(ctx, &corev1.ServiceAccount{ObjectMeta: w.named("default")})).To(Succeed())
	w.audit(ctx, "honest", honest, 0)
	w.audit(ctx, "leaky", leaky, 2)
	Expect(api.Create(ctx, &v1alpha1.MCPAuditPolicy{ObjectMeta: w.named("default"), Spec: v1alpha1.MCPAuditPolicySpec{Gate: v1alpha1.Gate{Mode: mode}}})).To(Succeed())
	testenv.Eventually(ctx, func(g Gomega) {
		facts, known := store.Facts(time.Now()), 0
		for v := range store.All() {
			if v.Audit.Namespace == w.namespace {
				known++
			}
		}
		g.Expect(known).To(Equal(2))
		g.Expect(facts.Policies).To(ContainElement(HaveField("Namespace", w.namespace)))
		_, labelled := facts.NamespaceLabels(w.namespace)
		g.Expect(labelled).To(BeTrue())
	})
	return w
}

func (w world) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w world) audit(ctx context.Context, name, image string, high int32) {
	GinkgoHelper()
	audit := &v1alpha1.MCPServerAudit{ObjectMeta: w.named(name)}
	audit.Spec.Server.Image = image
	Expect(api.Create(ctx, audit)).To(Succeed())
	now, counts := metav1.Now(), &v1alpha1.FindingCounts{High: high}
	digest := v1alpha1.Digest(image[strings.Index(image, "@")+1:])
	audit.Status = v1alpha1.MCPServerAuditStatus{
		ObservedGeneration: audit.Generation, Verdict: v1alpha1.VerdictPass, ImageDigest: digest, LastAuditTime: &now, Findings: counts,
		Audited: &v1alpha1.AuditedServer{
			Image: image, Digests: []v1alpha1.Digest{digest}, CommandDigest: v1alpha1.CommandDigest(nil, nil), Unsuppressed: counts,
			WorkingDir: "/app", CodePaths: []string{"/app"},
			Exercise: &v1alpha1.AuditedExercise{Digest: digest, Network: report.NetworkSinkhole, Rounds: 3, MaxCallsPerTool: 24},
		},
	}
	condition := func(kind, reason string, holds bool) {
		status := metav1.ConditionFalse
		if holds {
			status = metav1.ConditionTrue
		}
		audit.Status.Conditions = append(audit.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, LastTransitionTime: now, ObservedGeneration: audit.Generation,
		})
	}
	reason := v1alpha1.ReasonPassed
	if high > 0 {
		audit.Status.Verdict, reason = v1alpha1.VerdictFail, v1alpha1.ReasonFindingsAboveThreshold
	}
	condition(v1alpha1.ConditionReady, reason, high == 0)
	condition(v1alpha1.ConditionAudited, "AuditCompleted", true)
	condition(v1alpha1.ConditionManifestStable, "Stable", true)
	Expect(api.Status().Update(ctx, audit)).To(Succeed())
}

func (w world) pod(image string) *corev1.Pod {
	meta := w.named("")
	meta.GenerateName = "server-"
	return &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "server", Image: image}}}}
}

func (w world) deployment(name, image string) *appsv1.Deployment {
	set := map[string]string{"app": name}
	return &appsv1.Deployment{ObjectMeta: w.named(name), Spec: appsv1.DeploymentSpec{
		Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: set},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: set}, Spec: w.pod(image).Spec},
	}}
}

func (w world) gate(ctx context.Context, label string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, v1alpha1.GateLabel, label)
	Expect(api.Patch(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

var _ = Describe("the webhook", func() {
	It("denies with a sentence, and is never in the way of what runs", func(ctx SpecContext) {
		w := newWorld(ctx, v1alpha1.GateEnforce)
		err := api.Create(ctx, w.deployment("notes", leaky))
		Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(And(HavePrefix(`admission webhook "gate.mcpaudit.dev" denied the request: Deployment notes: container server runs `+leaky),
			ContainSubstring("audit "+w.namespace+"/leaky"), ContainSubstring("kubectl mcpaudit show leaky -n "+w.namespace), ContainSubstring("policy default"))))
		Expect(api.Create(ctx, w.deployment("notes", leaky), client.DryRunAll)).NotTo(Succeed())
		Expect(api.Create(ctx, w.deployment("dry", honest), client.DryRunAll)).To(Succeed())
		running := w.deployment("notes", honest)
		Expect(api.Create(ctx, running)).To(Succeed())

		By("denying an update that brings in another image")
		running.Spec.Template.Spec.Containers[0].Image = leaky
		Expect(api.Update(ctx, running)).NotTo(Succeed())

		By("scaling, labelling and deleting what was there before the gate")
		w.gate(ctx, "null")
		old := w.deployment("old", leaky)
		old.Finalizers = []string{"example.com/wait"}
		Eventually(ctx, func() error { return api.Create(ctx, old) }).Should(Succeed())
		w.gate(ctx, `"enabled"`)
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(api.Create(ctx, w.pod(leaky), client.DryRunAll)).NotTo(Succeed()) })
		Expect(api.SubResource("scale").Update(ctx, old, client.WithSubResourceBody(scaleOf(old, 0)))).To(Succeed())
		Expect(api.Patch(ctx, old, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}},"spec":{"replicas":1}}`)))).To(Succeed())
		Expect(api.Delete(ctx, old)).To(Succeed())
		Expect(api.Patch(ctx, old, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())
	})

	// The API server escapes "<" in six bytes: a request that is not answered is admitted.
	It("R1: denies what it cannot read whole", func(ctx SpecContext) {
		w := newWorld(ctx, v1alpha1.GateEnforce)
		pod := w.pod(leaky)
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PAD", Value: strings.Repeat("<", 1_300_000)}}
		Expect(api.Create(ctx, pod)).To(MatchError(ContainSubstring("the request for it has more than")))
	})

	It("sees ephemeral containers, Pods that somebody owns, and warns", func(ctx SpecContext) {
		w := newWorld(ctx, v1alpha1.GateEnforce)
		pod := w.pod(honest)
		Expect(api.Create(ctx, pod)).To(Succeed())
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: leaky}}}
		Expect(api.SubResource("ephemeralcontainers").Update(ctx, pod)).To(MatchError(ContainSubstring("ephemeral container debug")))
		owned := w.pod(leaky)
		owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "notes", UID: "1", Controller: new(true)}}
		Expect(api.Create(ctx, owned)).NotTo(Succeed())

		v := newWorld(ctx, v1alpha1.GateWarn)
		people, told := warned()
		Expect(people.Create(ctx, v.pod(leaky))).To(Succeed())
		Expect(told.take()).To(ContainElement(ContainSubstring("registry.example/leaky:1@sha256:")))
		Expect(people.Create(ctx, v.pod(honest))).To(Succeed())
		Expect(told.take()).To(BeEmpty())
	})

	It("writes that an exception was used, but for a dry run", func(ctx SpecContext) {
		w := newWorld(ctx, v1alpha1.GateEnforce)
		exception := &v1alpha1.MCPAuditException{ObjectMeta: w.named("known"), Spec: v1alpha1.MCPAuditExceptionSpec{
			PolicyRef: v1alpha1.PolicyReference{Kind: "MCPAuditPolicy", Name: "default"}, ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "known"}},
			Reason: "known and harmless", Ticket: "SEC-1", ExpiresAt: metav1.NewTime(time.Now().Add(time.Hour).Truncate(time.Second)),
		}}
		Expect(api.Create(ctx, exception)).To(Succeed())
		used := func() (*metav1.Time, []eventsv1.Event) {
			Expect(api.Get(ctx, client.ObjectKeyFromObject(exception), exception)).To(Succeed())
			var events eventsv1.EventList
			Expect(api.List(ctx, &events, client.InNamespace(w.namespace))).To(Succeed())
			return exception.Status.LastUsedTime, events.Items
		}
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(api.Create(ctx, w.deployment("known", leaky), client.DryRunAll)).To(Succeed())
		})
		Expect(api.Create(ctx, w.deployment("other", leaky))).NotTo(Succeed())
		at, events := used()
		Expect(at).To(BeNil())
		Expect(events).To(BeEmpty())
		Expect(api.Create(ctx, w.deployment("known", leaky))).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) {
			at, events := used()
			g.Expect(at).NotTo(BeNil())
			g.Expect(events).To(HaveLen(1))
			g.Expect(events[0].Reason).To(Equal("ExceptionUsed"))
			g.Expect(events[0].Note).To(ContainSubstring("Admitted Deployment known of "))
		})
	})

	It("follows a new certificate without a request that fails", func(ctx SpecContext) {
		w := newWorld(ctx, v1alpha1.GateEnforce)
		before := serving.Expires()
		var asked, failed atomic.Int64
		var people sync.WaitGroup
		stop := make(chan struct{})
		for range 4 {
			people.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					asked.Add(1)
					if err := api.Create(ctx, w.pod(honest), client.DryRunAll); err != nil {
						GinkgoWriter.Println(err)
						failed.Add(1)
					}
				}
			})
		}
		wall.SetTime(time.Now()) // two thirds of the first one are over
		touch(ctx)
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(serving.Expires()).To(BeTemporally(">", before)) })
		seen := asked.Load()
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(asked.Load()).To(BeNumerically(">", seen+20)) })
		close(stop)
		people.Wait()
		Expect(failed.Load()).To(BeZero(), "of %d", asked.Load())
	})

	It("replaces a Secret that cannot be used, and leaves the rest of the configuration alone", func(ctx SpecContext) {
		wall.SetTime(time.Now())
		w := newWorld(ctx, v1alpha1.GateEnforce)
		bundle := webhookOf(ctx).ClientConfig.CABundle
		var secret corev1.Secret
		Expect(api.Get(ctx, client.ObjectKey{Namespace: testenv.SystemNamespace, Name: certs.SecretName}, &secret)).To(Succeed())
		Expect(api.Delete(ctx, &secret)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(webhookOf(ctx).ClientConfig.CABundle).NotTo(Equal(bundle)) })
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(api.Create(ctx, w.pod(honest), client.DryRunAll)).To(Succeed()) })

		By("keeping caBundle when the configuration is applied without it")
		hook := webhookOf(ctx)
		for _, object := range testenv.Manifests(ctx, "webhook") {
			if object.GetKind() == "ValidatingWebhookConfiguration" {
				applied := object.Object["webhooks"].([]any)[0].(map[string]any)
				applied["clientConfig"] = map[string]any{"url": *hook.ClientConfig.URL}
				applied["failurePolicy"], applied["timeoutSeconds"] = "Fail", int64(20)
				Expect(api.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("gitops"), client.ForceOwnership)).To(Succeed())
			}
		}
		Expect(webhookOf(ctx)).To(Equal(hook))
		Expect(strings.Count(string(hook.ClientConfig.CABundle), "BEGIN CERTIFICATE")).To(BeNumerically(">", 0))
	})
})

func scaleOf(of *appsv1.Deployment, replicas int32) *autoscalingv1.Scale {
	return &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
}

// touch wakes what keeps the certificate.
func touch(ctx context.Context) {
	GinkgoHelper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: testenv.SystemNamespace, Name: certs.SecretName}}
	Expect(api.Patch(ctx, secret, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"touched":"true"}}}`)))).To(Succeed())
}
