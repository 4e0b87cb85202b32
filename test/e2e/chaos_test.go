//go:build e2e

package e2e

import (
	"context"
	"os/exec"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// Chaos, which `make test-chaos` runs: what an audit depends on is taken away in
// the middle of it. controllers/audit has the same for every single call of the API.
const chaos = "chaos"

// outage is the time for which the API server is away.
const outage = time.Minute

// node signals a program of the cluster's node.
func node(signal, program string) {
	GinkgoHelper()
	out, err := exec.Command("../../hack/cluster/signal.sh", signal, program).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
}

// takes is a server that needs some seconds, so that something can happen meanwhile; in
// each of its launches, so that there are few.
func takes(seconds string) *v1alpha1.MCPServerAudit {
	return newAudit("misbehave:slow", func(a *v1alpha1.MCPServerAudit) {
		a.Spec.Server.Env = []v1alpha1.EnvVar{{Name: "NOTES_SECONDS", Value: seconds}}
		a.Spec.Probe.MaxCallsPerTool, a.Spec.Probe.Rounds = 2, 1
	})
}

// killManagers ends the manager's processes from the node, all replicas at once,
// with nothing that they could do about it.
func killManagers() { kill("manager", managerDeployment) }

// killGates does the same to the gate.
func killGates() { kill("gate", gateDeployment) }

// kill ends a program of the operator. When the spec is over, it has new Pods: with each
// end of a container the kubelet waits longer before it starts it again, up to 5 minutes.
func kill(program, deployment string) {
	GinkgoHelper()
	killed, err := killProcesses(program, "kubepods")
	Expect(err).NotTo(HaveOccurred())
	Expect(killed).To(BeNumerically(">", 0), "no %s was running", program)
	DeferCleanup(func(ctx context.Context) {
		Expect(k8s.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(systemNamespace), client.MatchingLabels{"app.kubernetes.io/component": program})).To(Succeed())
		scale(ctx, deployment, managerReplicas)
	})
}

// awaitOutcome waits as awaitVerdict does, through failures of the API server.
func awaitOutcome(ctx context.Context, audit *v1alpha1.MCPServerAudit) {
	GinkgoHelper()
	await(ctx, audit, func(g Gomega) {
		g.Expect(audit.Status.Verdict).NotTo(BeEmpty(), "no verdict yet: %s", conditions(audit))
		g.Expect(condition(audit, v1alpha1.ConditionAuditing).Status).To(Equal(metav1.ConditionFalse))
	})
}

// expectOnce expects a Pass that is in the status once, with one report, and
// nothing left of it.
func expectOnce(ctx context.Context, audit *v1alpha1.MCPServerAudit) {
	GinkgoHelper()
	expectPass(audit)
	Expect(audit.Status.History).To(HaveLen(1))
	Expect(reportOf(ctx, audit).Spec.Manifest.Tools).To(HaveLen(1))
	var reports v1alpha1.MCPAuditReportList
	Expect(k8s.List(ctx, &reports, client.InNamespace(audit.Namespace), client.MatchingLabels{auditUIDLabel: string(audit.UID)})).To(Succeed())
	Expect(reports.Items).To(HaveLen(1))
	expectNothingLeft(ctx, audit)
}

func expectNothingLeft(ctx context.Context, audit *v1alpha1.MCPServerAudit) {
	GinkgoHelper()
	Eventually(podsOf).WithContext(ctx).WithArguments(audit).Should(BeEmpty())
	Expect(secretsOf(ctx, audit)).To(BeEmpty())
}

var _ = Describe("In the middle of an audit", Label(chaos), Serial, func() {
	DescribeTable("the managers are killed", func(ctx context.Context, reached func(corev1.Pod) bool) {
		audit := takes("2")
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		seen, err := k8s.Watch(ctx, &corev1.PodList{}, client.InNamespace(runNamespace), client.MatchingLabels{auditUIDLabel: string(audit.UID)})
		Expect(err).NotTo(HaveOccurred())
		defer seen.Stop()
		Eventually(seen.ResultChan()).WithContext(ctx).WithPolling(10 * time.Millisecond).Should(Receive(HaveField("Object", Satisfy(func(o runtime.Object) bool {
			pod, is := o.(*corev1.Pod)
			return is && reached(*pod)
		})))) // a Pod that has ended may be gone before anybody looks
		killManagers()
		awaitOutcome(ctx, audit)
		expectOnce(ctx, audit)
	},
		Entry("when the Pod is there", func(corev1.Pod) bool { return true }),
		Entry("when the Pod runs", func(pod corev1.Pod) bool { return pod.Status.Phase == corev1.PodRunning }),
		Entry("when the Pod has ended", func(pod corev1.Pod) bool {
			return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		}),
	)

	It("the API server is away for a minute", func(ctx context.Context) {
		var audits []*v1alpha1.MCPServerAudit
		for _, seconds := range []string{"1", "10", "20"} {
			audit := takes(seconds)
			Expect(k8s.Create(ctx, audit)).To(Succeed())
			audits = append(audits, audit)
		}
		for _, audit := range audits { // a Pod that is still to start would be too late afterwards
			awaitRunning(ctx, audit)
		}
		node("STOP", "kube-apiserver")
		away := time.After(outage)
		DeferCleanup(node, "CONT", "kube-apiserver") // also when the spec is interrupted
		select {
		case <-away:
		case <-ctx.Done():
		}
		node("CONT", "kube-apiserver")
		for _, audit := range audits {
			awaitOutcome(ctx, audit)
			expectOnce(ctx, audit)
		}
	})

	It("etcd answers slowly", func(ctx context.Context) {
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() { // three quarters of the time it does nothing
			defer GinkgoRecover()
			defer close(stopped)
			for turn := time.NewTicker(time.Second); ; {
				select {
				case <-stop:
					turn.Stop()
					return
				case <-turn.C:
					node("STOP", "etcd")
					<-time.After(750 * time.Millisecond)
					node("CONT", "etcd")
				}
			}
		}()
		DeferCleanup(func() { close(stop); <-stopped; node("CONT", "etcd") })
		audit := takes("2")
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		awaitOutcome(ctx, audit)
		expectOnce(ctx, audit)
	})

	It("somebody deletes the Pod", func(ctx context.Context) {
		audit := takes("20")
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		pod := awaitRunning(ctx, audit)
		Expect(k8s.Delete(ctx, &pod, client.GracePeriodSeconds(0))).To(Succeed())
		awaitOutcome(ctx, audit)
		expectInconclusive(audit, report.ReasonPodFailed, "deleted")
		Expect(audit.Status.NextAuditTime).NotTo(BeNil(), "it will be tried again")
		Expect(audit.Status.History).To(HaveLen(1))
		expectNothingLeft(ctx, audit)
	})

	It("the kubelet stops, and comes back", func(ctx context.Context) {
		// With its only node gone a cluster may evict nothing (the node controller's master
		// disruption mode): then it is the deadline of the run that ends the audit.
		audit := takes("200")
		audit.Spec.Timeout = metav1.Duration{Duration: time.Minute}
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		awaitRunning(ctx, audit)
		node("STOP", "kubelet")
		DeferCleanup(node, "CONT", "kubelet")
		awaitOutcome(ctx, audit)
		expectInconclusive(audit, report.ReasonNodeLost, "The node ")
		node("CONT", "kubelet")
		expectNothingLeft(ctx, audit)
		Eventually(func() (string, error) {
			return kubectl(ctx, "", "wait", "node", "--all", "--for=condition=Ready", "--timeout=1s")
		}).WithContext(ctx).Should(ContainSubstring("condition met"))
	})

	It("the node is drained, and another audit waits until it is back", func(ctx context.Context) {
		audit := takes("20")
		Expect(k8s.Create(ctx, audit)).To(Succeed())
		pod := awaitRunning(ctx, audit)
		uncordon := func(ctx context.Context) { mustKubectl(ctx, "", "uncordon", pod.Spec.NodeName) }
		DeferCleanup(uncordon)
		mustKubectl(ctx, "", "drain", pod.Spec.NodeName, "--pod-selector="+auditUIDLabel, "--force", "--delete-emptydir-data", "--timeout=60s")
		awaitOutcome(ctx, audit)
		expectInconclusive(audit, report.ReasonEvicted, "by the eviction API")
		expectNothingLeft(ctx, audit)

		waiting := newAudit("honest-go:dev")
		Expect(k8s.Create(ctx, waiting)).To(Succeed())
		await(ctx, waiting, func(g Gomega) {
			g.Expect(condition(waiting, v1alpha1.ConditionAuditing).Message).To(ContainSubstring("unschedulable"))
		})
		uncordon(ctx)
		awaitOutcome(ctx, waiting)
		expectOnce(ctx, waiting)
	})
})
