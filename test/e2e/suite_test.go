//go:build e2e

// Package e2e runs the operator on a real cluster: real images from a real
// registry, real Pods, a real tracer. hack/e2e.sh brings up the cluster, pushes
// the images and installs the operator; the tests only use them.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

const (
	runNamespace    = "mcpaudit-runs"
	systemNamespace = "mcpaudit-system"

	// auditUIDLabel is on every object of an audit in the run namespace.
	auditUIDLabel = "mcpaudit.dev/audit-uid"

	// verdictTimeout is generous: it bounds a hang, it measures nothing. An audit has 2
	// minutes to start here, and 5 to end.
	verdictTimeout = 10 * time.Minute
	poll           = 500 * time.Millisecond
)

var (
	k8s       client.WithWatch
	registry  = os.Getenv("IMAGE_REGISTRY")
	namespace string // of the running spec
)

func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "End to end")
}

var _ = BeforeSuite(func() {
	SetDefaultEventuallyTimeout(verdictTimeout)
	EnforceDefaultTimeoutsWhenUsingContexts()
	SetDefaultEventuallyPollingInterval(poll)
	Expect(registry).NotTo(BeEmpty(), "IMAGE_REGISTRY is not set: run the suite by `make test-e2e`")
	restConfig, err := config.GetConfig()
	Expect(err).NotTo(HaveOccurred(), "no cluster: run the suite by `make test-e2e`")
	scheme := runtime.NewScheme()
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(v1alpha1.AddToScheme(scheme)).To(Succeed())
	k8s, err = client.NewWithWatch(restConfig, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
})

// Each spec has a namespace of its own, and its audits must leave nothing
// behind in the run namespace.
var _ = BeforeEach(func(ctx context.Context) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
	Expect(k8s.Create(ctx, ns)).To(Succeed())
	namespace = ns.Name
	DeferCleanup(func(ctx context.Context) {
		if CurrentSpecReport().Failed() {
			explain()
		}
		Expect(k8s.Delete(ctx, ns)).To(Succeed())
	})
})

// explain prints what a person would look at after a failure.
func explain() {
	for _, args := range [][]string{
		{"-n", namespace, "describe", "mcpserveraudits"},
		{"-n", namespace, "get", "mcpauditreports", "-o", `jsonpath={range .items[*]}{.metadata.name}: {.spec.errors}{"\n"}{end}`},
		{"-n", runNamespace, "get", "pods", "-o", "wide"},
		{"-n", runNamespace, "describe", "pods"},
		{"-n", systemNamespace, "logs", "--selector=app.kubernetes.io/component in (manager, gate)", "--prefix", "--tail=60"},
	} {
		out, err := exec.Command("kubectl", args...).CombinedOutput()
		GinkgoWriter.Printf("$ kubectl %v (%v)\n%s\n", args, err, out)
	}
}

// newAudit is an audit of an image in the registry of the cluster: a quick one, because
// most specs are about what comes before and after the exercise.
func newAudit(image string, options ...func(*v1alpha1.MCPServerAudit)) *v1alpha1.MCPServerAudit {
	audit := &v1alpha1.MCPServerAudit{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "audit-", Namespace: namespace},
		Spec: v1alpha1.MCPServerAuditSpec{
			Server: v1alpha1.Server{Image: registry + "/mcpaudit/" + image},
			Probe:  v1alpha1.Probe{Depth: report.DepthQuick},
		},
	}
	for _, option := range options {
		option(audit)
	}
	return audit
}

// inFull has the audit go as deep as one whose depth is not given.
func inFull(a *v1alpha1.MCPServerAudit) { a.Spec.Probe.Depth = "" }

func timeout(d time.Duration) func(*v1alpha1.MCPServerAudit) {
	return func(a *v1alpha1.MCPServerAudit) { a.Spec.Timeout = metav1.Duration{Duration: d} }
}

// settled creates an audit and waits for its verdict.
func settled(ctx context.Context, audit *v1alpha1.MCPServerAudit) *v1alpha1.MCPServerAudit {
	GinkgoHelper()
	Expect(k8s.Create(ctx, audit)).To(Succeed())
	awaitVerdict(ctx, audit)
	return audit
}

// await reads an object until a check of it succeeds.
func await(ctx context.Context, object client.Object, check func(g Gomega)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(k8s.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		check(g)
	}).WithContext(ctx).Should(Succeed())
}

// awaitVerdict waits until the present generation has a verdict and no audit runs.
func awaitVerdict(ctx context.Context, audit *v1alpha1.MCPServerAudit) {
	GinkgoHelper()
	await(ctx, audit, func(g Gomega) {
		g.Expect(audit.Status.Verdict).NotTo(BeEmpty(), "no verdict yet: %s", conditions(audit))
		g.Expect(audit.Status.ObservedGeneration).To(Equal(audit.Generation))
		g.Expect(condition(audit, v1alpha1.ConditionAuditing).Status).To(Equal(metav1.ConditionFalse))
	})
}

// expectPass says last why there is no Pass: a log that is cut short keeps its end.
func expectPass(audit *v1alpha1.MCPServerAudit) {
	GinkgoHelper()
	if audit.Status.Verdict != v1alpha1.VerdictPass {
		Fail(fmt.Sprintf("audit %s: %s, not Pass: %s", audit.Name, audit.Status.Verdict, conditions(audit)))
	}
}

// rerun asks for another audit by the annotation and waits for its verdict.
func rerun(ctx context.Context, audit *v1alpha1.MCPServerAudit) {
	GinkgoHelper()
	request := time.Now().Format(time.RFC3339Nano)
	before := audit.DeepCopy()
	metav1.SetMetaDataAnnotation(&audit.ObjectMeta, v1alpha1.RequestedAtAnnotation, request)
	Expect(k8s.Patch(ctx, audit, client.MergeFrom(before))).To(Succeed())
	await(ctx, audit, func(g Gomega) {
		g.Expect(audit.Status.LastHandledReconcileAt).To(Equal(request), conditions(audit))
	})
	awaitVerdict(ctx, audit)
}

func condition(audit *v1alpha1.MCPServerAudit, kind string) metav1.Condition {
	for _, c := range audit.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return metav1.Condition{}
}

// conditions prints the conditions in short, for failure messages.
func conditions(audit *v1alpha1.MCPServerAudit) string {
	s := ""
	for _, c := range audit.Status.Conditions {
		s += fmt.Sprintf("%s=%s (%s: %s) ", c.Type, c.Status, c.Reason, c.Message)
	}
	return s
}

// reportOf fetches the report of the last audit.
func reportOf(ctx context.Context, audit *v1alpha1.MCPServerAudit) *v1alpha1.MCPAuditReport {
	GinkgoHelper()
	Expect(audit.Status.ReportRef).NotTo(BeNil(), conditions(audit))
	report := &v1alpha1.MCPAuditReport{}
	Expect(k8s.Get(ctx, client.ObjectKey{Namespace: audit.Namespace, Name: audit.Status.ReportRef.Name}, report)).To(Succeed())
	return report
}

// podsOf lists the audit Pods of an audit.
func podsOf(ctx context.Context, audit *v1alpha1.MCPServerAudit) []corev1.Pod {
	GinkgoHelper()
	var pods corev1.PodList
	Expect(k8s.List(ctx, &pods, client.InNamespace(runNamespace),
		client.MatchingLabels{auditUIDLabel: string(audit.UID)})).To(Succeed())
	return pods.Items
}

// awaitRunning waits until the audit's server is being exercised.
func awaitRunning(ctx context.Context, audit *v1alpha1.MCPServerAudit) corev1.Pod {
	GinkgoHelper()
	var pod corev1.Pod
	Eventually(func(g Gomega) {
		pods := podsOf(ctx, audit)
		g.Expect(pods).To(HaveLen(1))
		pod = pods[0]
		g.Expect(pod.Status.Phase).To(Equal(corev1.PodRunning))
	}).WithContext(ctx).Should(Succeed())
	return pod
}
