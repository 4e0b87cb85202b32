//go:build e2e

package e2e

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// unaudited is an image that no audit knows, and that no kubelet could pull.
const unaudited = "none.invalid/none@sha256:0000000000000000000000000000000000000000000000000000000000000000"

// tried holds the warnings of the API server about a request, and its answer.
type tried struct {
	warnings []string
	err      error
}

// asker is a client that keeps the warnings.
type asker struct {
	client.Client
	mutex    sync.Mutex
	warnings []string
}

func (a *asker) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.warnings = append(a.warnings, text)
}

// asking makes an asker; as whoever the option says.
func asking(options ...func(*rest.Config)) *asker {
	GinkgoHelper()
	log.SetLogger(GinkgoLogr)
	restConfig, err := config.GetConfig()
	Expect(err).NotTo(HaveOccurred())
	a := &asker{}
	restConfig.WarningHandlerWithContext, restConfig.QPS = a, -1
	for _, option := range options {
		option(restConfig)
	}
	a.Client, err = client.New(restConfig, client.Options{Scheme: k8s.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return a
}

func as(user string, groups ...string) func(*rest.Config) {
	return func(c *rest.Config) { c.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups} }
}

// try does something and tells what was warned of meanwhile.
func (a *asker) try(do func() error) tried {
	a.mutex.Lock()
	a.warnings = nil
	a.mutex.Unlock()
	err := do()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return tried{a.warnings, err}
}

// create asks for an object without making it: admission is the same.
func (a *asker) create(ctx context.Context, object client.Object) tried {
	return a.try(func() error { return a.Create(ctx, object.DeepCopyObject().(client.Object), client.DryRunAll) })
}

// gated switches the namespace of the running spec into the gate.
func gated(ctx context.Context) {
	GinkgoHelper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	Expect(k8s.Patch(ctx, ns, client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"labels":{"`+v1alpha1.GateLabel+`":"`+v1alpha1.GateEnabled+`"}}}`)))).To(Succeed())
}

// trusting trusts the audits of some namespaces only.
func trusting(namespaces ...string) *v1alpha1.Trust {
	return &v1alpha1.Trust{AuditNamespaces: v1alpha1.AuditsSelected, NamespaceSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: namespaces}},
	}}
}

// gate makes a policy of the cluster for the namespace of the running spec, which is
// switched into the gate, and waits until it is in force.
func gate(ctx context.Context, options ...func(*v1alpha1.ClusterMCPAuditPolicySpec)) *v1alpha1.ClusterMCPAuditPolicy {
	GinkgoHelper()
	policy := &v1alpha1.ClusterMCPAuditPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: v1alpha1.ClusterMCPAuditPolicySpec{
			Match: &v1alpha1.ClusterMatch{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}},
			Gate:  &v1alpha1.Gate{Offline: v1alpha1.OfflineNone},
			Trust: trusting(reviewed(ctx).namespace),
		},
	}
	for _, option := range options {
		option(&policy.Spec)
	}
	Expect(k8s.Create(ctx, policy)).To(Succeed())
	DeferCleanup(func(ctx context.Context) { Expect(client.IgnoreNotFound(k8s.Delete(ctx, policy))).To(Succeed()) })
	gated(ctx)
	awaitDenied(ctx, pod(unaudited))
	return policy
}

// awaitDenied waits until the gate's own view has what denies an object.
func awaitDenied(ctx context.Context, object client.Object) {
	GinkgoHelper()
	awaitAnswer(ctx, object, MatchError(ContainSubstring("denied the request")))
}

// awaitAdmitted waits until the gate admits an object.
func awaitAdmitted(ctx context.Context, object client.Object) {
	GinkgoHelper()
	awaitAnswer(ctx, object, Not(HaveOccurred()))
}

// awaitAnswer creates an object as a dry run until the gate answers as expected; several times,
// for there are two replicas.
func awaitAnswer(ctx context.Context, object client.Object, answer OmegaMatcher) {
	GinkgoHelper()
	a := asking()
	Eventually(func(g Gomega) {
		for range 5 {
			g.Expect(a.create(ctx, object).err).To(answer)
		}
	}).WithContext(ctx).Should(Succeed())
}

// reviews are the audits that the platform team made: of an image that passed, and of
// one that failed. Each process of the suite has its own, in a namespace of their own.
type reviews struct {
	namespace     string
	honest, leaky *v1alpha1.MCPServerAudit
}

var reviewedOnce struct {
	sync.Once
	reviews
}

func reviewed(ctx context.Context) reviews {
	GinkgoHelper()
	reviewedOnce.Do(func() {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-reviews-"}}
		Expect(k8s.Create(ctx, ns)).To(Succeed())
		reviewedOnce.namespace = ns.Name
		honest, leaky := newAudit("honest-go:dev", inFull), newAudit("leaky-go:dev")
		for _, audit := range []*v1alpha1.MCPServerAudit{honest, leaky} {
			audit.Namespace = ns.Name
			Expect(k8s.Create(ctx, audit)).To(Succeed())
		}
		awaitVerdict(ctx, honest)
		awaitVerdict(ctx, leaky)
		expectPass(honest)
		Expect(leaky.Status.Verdict).To(Equal(v1alpha1.VerdictFail), conditions(leaky))
		reviewedOnce.honest, reviewedOnce.leaky = honest, leaky
	})
	Expect(reviewedOnce.leaky).NotTo(BeNil(), "the audits that the gate's specs share were not made")
	return reviewedOnce.reviews
}

var _ = AfterSuite(func(ctx context.Context) {
	if name := reviewedOnce.namespace; name != "" {
		Expect(k8s.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
})

// byDigest names the image of an audit by what the audit ran.
func byDigest(audit *v1alpha1.MCPServerAudit) string {
	repository := audit.Spec.Server.Image
	if i := strings.LastIndexByte(repository, ':'); i > strings.LastIndexByte(repository, '/') {
		repository = repository[:i]
	}
	return repository + "@" + string(audit.Status.ImageDigest)
}

// server is a container that runs as the image says, and waits for a client.
func server(image string) corev1.Container {
	return corev1.Container{Name: "server", Image: image, Stdin: true, ImagePullPolicy: corev1.PullAlways}
}

// pod is a Pod with one server.
func pod(image string, options ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "notes", Namespace: namespace},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{server(image)}, AutomountServiceAccountToken: new(false), TerminationGracePeriodSeconds: new(int64(0))},
	}
	for _, option := range options {
		option(p)
	}
	return p
}

// template is the Pod of a workload.
func template(image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "notes"}}, Spec: pod(image).Spec}
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: namespace} }

func selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "notes"}}
}

// deployment has one replica.
func deployment(image string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: meta("notes"), Spec: appsv1.DeploymentSpec{Selector: selector(), Template: template(image)}}
}

// labelled gives an object one more label.
func labelled[T client.Object](object T, key, value string) T {
	labels := maps.Clone(object.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	object.SetLabels(labels)
	return object
}

// awaitAvailable waits until the Pods of a Deployment run.
func awaitAvailable(ctx context.Context, d *appsv1.Deployment) {
	GinkgoHelper()
	await(ctx, d, func(g Gomega) {
		g.Expect(d.Status.ObservedGeneration).To(Equal(d.Generation))
		g.Expect(d.Status.UpdatedReplicas).To(BeEquivalentTo(1), "%v", d.Status.Conditions)
		g.Expect(d.Status.AvailableReplicas).To(BeEquivalentTo(1), "%v", d.Status.Conditions)
	})
}

// inAYear is the end of what lasts as long as it may, and some hours less.
func inAYear() time.Time { return time.Now().AddDate(0, 0, 364) }
