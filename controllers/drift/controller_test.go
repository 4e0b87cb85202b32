//go:build envtest

package drift_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/drift"
	"github.com/mcpaudit/mcpaudit/controllers/metrics"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

// policyIn makes a policy in a namespace, with the mode that only looks.
func policyIn(ctx context.Context, namespace string) *v1alpha1.MCPAuditPolicy {
	GinkgoHelper()
	policy := &v1alpha1.MCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
	policy.Spec.Gate.Mode = v1alpha1.GateAudit
	made(ctx, policy)
	return policy
}

// columns returns what kubectl shows of an object, by the name of the column.
func columns(ctx context.Context, resource, namespace, name string) map[string]any {
	GinkgoHelper()
	clients, err := kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	path := fmt.Sprintf("/apis/mcpaudit.dev/v1alpha1/%s/%s", resource, name)
	if namespace != "" {
		path = fmt.Sprintf("/apis/mcpaudit.dev/v1alpha1/namespaces/%s/%s/%s", namespace, resource, name)
	}
	content, err := clients.RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	var table metav1.Table
	Expect(json.Unmarshal(content, &table)).To(Succeed())
	shown := map[string]any{}
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			shown[column.Name] = table.Rows[0].Cells[i]
		}
	}
	delete(shown, "Age")
	return shown
}

var _ = Describe("What runs", Ordered, func() {
	var running *drift.Reconciler
	var stop func()
	BeforeAll(func() { running, stop = startManager(context.Background()) })
	AfterAll(func() { stop() })

	It("is held against a policy, by what the kubelet pulled", func(ctx SpecContext) {
		namespace := namespaceFor(ctx, true)
		decided(ctx, namespace, "notes", 1, 0)
		pod := runPod(ctx, namespace, "notes", 1)
		policy := settled(ctx, policyIn(ctx, namespace), v1alpha1.ReasonGating)
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(api.Get(ctx, client.ObjectKeyFromObject(policy), policy)).To(Succeed())
			g.Expect(policy.Status.Gate).To(Equal(&v1alpha1.GateStatus{Containers: 1}))
		})
		Expect(statusOf(ctx, policy)).To(Equal(status.CurrentStatus))

		By("finding another image than was admitted")
		pod.Spec.Containers[0].Image = "registry.example/notes:1@" + string(digest(2))
		Expect(api.Update(ctx, pod)).To(Succeed())
		report(ctx, pod, 2)
		policy = settled(ctx, policy, v1alpha1.ReasonRunningViolations)
		Expect(policy.Status.Gate.Running).To(Equal([]v1alpha1.RunningViolation{{Namespace: namespace, Owner: "Pod/notes", Container: "server",
			Image: "registry.example/notes:1@" + string(digest(2)), ImageID: "registry.example/notes@" + string(digest(2)), Reason: v1alpha1.GateNotAudited, Pods: 1}}))
		Expect(statusOf(ctx, policy)).To(Equal(status.CurrentStatus), "the policy itself is in force")
		Expect(columns(ctx, "mcpauditpolicies", namespace, "default")).To(Equal(map[string]any{"Name": "default", "Mode": "Audit", "Ready": "True",
			"Reason": "RunningViolations", "Containers": 1.0, "Violating": 1.0}))
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(eventsOf(ctx, policy)).To(ConsistOf(And(HavePrefix("RunningViolation: In "+namespace+", Pod notes: container server"), ContainSubstring("kubectl mcpaudit run"))))
		})
		Expect(running.Containers()).To(HaveKeyWithValue(metrics.RunningContainer{Reason: v1alpha1.GateNotAudited, Denied: true}, BeNumerically(">=", 1)))

		By("an exception")
		e := &v1alpha1.MCPAuditException{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "e"}, Spec: v1alpha1.MCPAuditExceptionSpec{
			PolicyRef: v1alpha1.PolicyReference{Kind: "MCPAuditPolicy", Name: "default"}, Images: []v1alpha1.Digest{digest(2)}, Reason: "known and harmless", Ticket: "SEC-1",
			ExpiresAt: metav1.NewTime(time.Now().Add(time.Hour).Truncate(time.Second))}}
		Expect(api.Create(ctx, e)).To(Succeed())
		settled(ctx, policy, v1alpha1.ReasonGating)
		Expect(api.Delete(ctx, e)).To(Succeed())
		settled(ctx, policy, v1alpha1.ReasonRunningViolations)

		By("a verdict that comes later")
		decided(ctx, namespace, "notes", 2, 0)
		settled(ctx, policy, v1alpha1.ReasonGating)
		decided(ctx, namespace, "notes", 2, 3)
		policy = settled(ctx, policy, v1alpha1.ReasonRunningViolations)
		Expect(policy.Status.Gate.Running[0].Reason).To(Equal(v1alpha1.GateFailed))
		testenv.Eventually(ctx, func(g Gomega) { // an event is written after the status
			g.Expect(eventsOf(ctx, policy)).To(ContainElement(ContainSubstring("which failed its audit")))
		})

		By("nothing being written when nothing happens")
		notes, before := len(eventsOf(ctx, policy)), policy.ResourceVersion
		touch(ctx)
		Expect(api.Get(ctx, client.ObjectKeyFromObject(policy), policy)).To(Succeed())
		Expect(policy.ResourceVersion).To(Equal(before))

		By("nor by a manager that starts again")
		stop()
		running, stop = startManager(context.Background())
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(running.Containers()).NotTo(BeNil()) })
		touch(ctx)
		Expect(api.Get(ctx, client.ObjectKeyFromObject(policy), policy)).To(Succeed())
		Expect(policy.ResourceVersion).To(Equal(before))
		Expect(eventsOf(ctx, policy)).To(HaveLen(notes))

		By("the Pod ending")
		Expect(api.Delete(ctx, pod, client.GracePeriodSeconds(0))).To(Succeed())
		policy = settled(ctx, policy, v1alpha1.ReasonGating)
		Expect(policy.Status.Gate).To(Equal(&v1alpha1.GateStatus{}))
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(eventsOf(ctx, policy)).To(ContainElement("RunningViolationEnded: The container server of Pod/notes in " + namespace + " does not violate the policy any more."))
		})
	})

	It("is not looked at where the gate is off", func(ctx SpecContext) {
		namespace := namespaceFor(ctx, false)
		runPod(ctx, namespace, "notes", 1)
		policy := settled(ctx, policyIn(ctx, namespace), v1alpha1.ReasonNamespaceNotGated)
		Expect(policy.Status.Gate).To(Equal(&v1alpha1.GateStatus{}))
		Expect(statusOf(ctx, policy)).To(Equal(status.CurrentStatus))
		label := func(value string) {
			Expect(api.Patch(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, client.RawPatch("application/merge-patch+json",
				[]byte(fmt.Sprintf(`{"metadata":{"labels":{%q:%s}}}`, v1alpha1.GateLabel, value))))).To(Succeed())
		}
		label(`"enabled"`)
		settled(ctx, policy, v1alpha1.ReasonRunningViolations)
		label("null")
		settled(ctx, policy, v1alpha1.ReasonNamespaceNotGated)
	})

	It("says what of a policy cannot be followed", func(ctx SpecContext) {
		namespace := namespaceFor(ctx, true)
		policy := &v1alpha1.MCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
		policy.Spec.Match = &v1alpha1.Match{ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "no label!"}}}
		Expect(api.Create(ctx, policy)).To(Succeed())
		settled(ctx, policy, v1alpha1.ReasonInvalidSpec)
		Expect(statusOf(ctx, policy)).To(Equal(status.FailedStatus))
	})

	It("shares the status of a cluster's policy with discovery", func(ctx SpecContext) {
		namespace := namespaceFor(ctx, true)
		runPod(ctx, namespace, "notes", 1)
		only := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
		policy := &v1alpha1.ClusterMCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Name: namespace}, Spec: v1alpha1.ClusterMCPAuditPolicySpec{
			Discovery: &v1alpha1.Discovery{NamespaceSelector: only}, Gate: &v1alpha1.Gate{Mode: v1alpha1.GateWarn},
			Trust: &v1alpha1.Trust{AuditNamespaces: v1alpha1.AuditsAll}, Match: &v1alpha1.ClusterMatch{NamespaceSelector: only},
		}}
		made(ctx, policy)
		DeferCleanup(func(ctx context.Context) { Expect(client.IgnoreNotFound(api.Delete(ctx, policy))).To(Succeed()) })
		parts := func() string {
			var kinds []string
			for _, c := range policy.Status.Conditions {
				kinds = append(kinds, c.Type+" "+c.Reason)
			}
			return strings.Join(kinds, ", ")
		}
		settled(ctx, policy, v1alpha1.ReasonRunningViolations)
		Expect(parts()).To(And(ContainSubstring("Gated RunningViolations"), ContainSubstring("Discovered Discovered")))
		Expect(policy.Status.Discovery).NotTo(BeNil())
		Expect(statusOf(ctx, policy)).To(Equal(status.CurrentStatus))
		Expect(columns(ctx, "clustermcpauditpolicies", "", namespace)).To(Equal(map[string]any{"Name": namespace, "Mode": "Warn", "Ready": "True",
			"Reason": "RunningViolations", "Violating": 1.0, "Discovered": 0.0, "Audited": 0.0, "Skipped": 0.0, "Max": 100.0}))

		By("nothing being written when nothing happens")
		before := policy.ResourceVersion
		touch(ctx)
		Expect(api.Get(ctx, client.ObjectKeyFromObject(policy), policy)).To(Succeed())
		Expect(policy.ResourceVersion).To(Equal(before))

		By("either part going away")
		edit := func(change func(*v1alpha1.ClusterMCPAuditPolicySpec)) {
			was := policy.DeepCopy()
			change(&policy.Spec)
			Expect(api.Patch(ctx, policy, client.MergeFrom(was))).To(Succeed())
		}
		edit(func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Discovery = nil })
		settled(ctx, policy, v1alpha1.ReasonRunningViolations)
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(api.Get(ctx, client.ObjectKeyFromObject(policy), policy)).To(Succeed())
			g.Expect(policy.Status.Discovery).To(BeNil())
			g.Expect(meta.FindStatusCondition(policy.Status.Conditions, v1alpha1.ConditionDiscovered)).To(BeNil())
		})
		edit(func(s *v1alpha1.ClusterMCPAuditPolicySpec) {
			s.Discovery, s.Gate, s.Trust, s.Match = &v1alpha1.Discovery{NamespaceSelector: only}, nil, nil, nil
		})
		settled(ctx, policy, v1alpha1.ReasonDiscovered)
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(api.Get(ctx, client.ObjectKeyFromObject(policy), policy)).To(Succeed())
			g.Expect(policy.Status.Gate).To(BeNil())
			g.Expect(parts()).NotTo(ContainSubstring("Gated"))
		})
		edit(func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Discovery = nil })
		settled(ctx, policy, v1alpha1.ReasonNothingToDo)
		Expect(statusOf(ctx, policy)).To(Equal(status.CurrentStatus))
	})
})

var _ = Describe("Pods that cannot be read", func() {
	It("are said to be so, after a while", func(ctx SpecContext) {
		stranger := rest.CopyConfig(config)
		stranger.Impersonate.UserName = "nobody"
		clients, err := kubernetes.NewForConfig(stranger)
		Expect(err).NotTo(HaveOccurred())
		clock := testclock.NewFakePassiveClock(time.Now())
		_, stop := startManager(ctx, func(r *drift.Reconciler) { r.Pods, r.Clock = clients.CoreV1().RESTClient(), clock })
		defer stop()
		policy := policyIn(ctx, namespaceFor(ctx, true))
		testenv.Eventually(ctx, func(g Gomega) {
			clock.SetTime(clock.Now().Add(time.Hour))
			namespaceFor(ctx, true) // it looks again
			g.Expect(api.Get(ctx, client.ObjectKeyFromObject(policy), policy)).To(Succeed())
			g.Expect(meta.FindStatusCondition(policy.Status.Conditions, v1alpha1.ConditionReady)).To(HaveField("Reason", v1alpha1.ReasonPodsPending))
		})
		Expect(statusOf(ctx, policy)).To(Equal(status.InProgressStatus))
		Expect(policy.Status.Gate).To(BeNil())
	})
})

// touch has the controllers look at everything again, and waits until they have: a Pod
// is announced of that came after what is to be seen.
func touch(ctx context.Context) {
	GinkgoHelper()
	marker := namespaceFor(ctx, true)
	runPod(ctx, marker, "marker", 9)
	settled(ctx, policyIn(ctx, marker), v1alpha1.ReasonRunningViolations)
	Expect(api.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: marker}})).To(Succeed())
}

var _ = Describe("An exception", Ordered, func() {
	var stop func()
	BeforeAll(func() { _, stop = startManager(context.Background()) })
	AfterAll(func() { stop() })
	exceptionTo := func(ctx context.Context, namespace string, kind, name string, expires time.Time) *v1alpha1.MCPAuditException {
		GinkgoHelper()
		e := &v1alpha1.MCPAuditException{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "e-"}, Spec: v1alpha1.MCPAuditExceptionSpec{
			PolicyRef: v1alpha1.PolicyReference{Kind: kind, Name: name}, Images: []v1alpha1.Digest{digest(2)}, Reason: "known and harmless", Ticket: "SEC-1",
			ExpiresAt: metav1.NewTime(expires.Truncate(time.Second))}}
		made(ctx, e)
		return e
	}
	active := func(e *v1alpha1.MCPAuditException) bool {
		return meta.IsStatusConditionTrue(e.Status.Conditions, v1alpha1.ConditionActive)
	}

	It("says whether it admits anything, and follows its policy", func(ctx SpecContext) {
		namespace := namespaceFor(ctx, false)
		e := settled(ctx, exceptionTo(ctx, namespace, "MCPAuditPolicy", "default", time.Now().Add(time.Hour)), v1alpha1.ReasonPolicyNotFound)
		Expect(statusOf(ctx, e)).To(Equal(status.InProgressStatus), "the policy may be applied later")
		Expect(active(e)).To(BeFalse())
		policy := policyIn(ctx, namespace)
		settled(ctx, e, v1alpha1.ReasonActive)
		Expect(statusOf(ctx, e)).To(Equal(status.CurrentStatus))
		Expect(active(e)).To(BeTrue())
		Expect(columns(ctx, "mcpauditexceptions", namespace, e.Name)).To(And(HaveKeyWithValue("Active", "True"), HaveKeyWithValue("Status", "Active"),
			HaveKeyWithValue("Policy", "default"), HaveKeyWithValue("Ticket", "SEC-1"), HaveKey("Expires")))

		Expect(api.Get(ctx, client.ObjectKeyFromObject(policy), policy)).To(Succeed())
		was := policy.DeepCopy()
		policy.Spec.Trust = &v1alpha1.Trust{AuditNamespaces: v1alpha1.AuditsSame, IgnoreExceptions: true}
		Expect(api.Patch(ctx, policy, client.MergeFrom(was))).To(Succeed())
		settled(ctx, e, v1alpha1.ReasonIgnored)
		Expect(statusOf(ctx, e)).To(Equal(status.FailedStatus))
		Expect(api.Delete(ctx, policy)).To(Succeed())
		settled(ctx, e, v1alpha1.ReasonPolicyNotFound)
	})

	It("ends by itself, which fails no deployment", func(ctx SpecContext) {
		namespace := namespaceFor(ctx, false)
		policyIn(ctx, namespace)
		e := settled(ctx, exceptionTo(ctx, namespace, "MCPAuditPolicy", "default", time.Now().Add(4*time.Second)), v1alpha1.ReasonActive)
		settled(ctx, e, v1alpha1.ReasonExpired)
		Expect(active(e)).To(BeFalse())
		Expect(statusOf(ctx, e)).To(Equal(status.CurrentStatus))
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(eventsOf(ctx, e)).To(ConsistOf(HavePrefix("Expired: "))) })

		By("nothing being written any more, also by a manager that starts again")
		before := e.ResourceVersion
		stop()
		_, stop = startManager(context.Background())
		settled(ctx, exceptionTo(ctx, namespace, "MCPAuditPolicy", "default", time.Now().Add(time.Hour)), v1alpha1.ReasonActive)
		Expect(api.Get(ctx, client.ObjectKeyFromObject(e), e)).To(Succeed())
		Expect(e.ResourceVersion).To(Equal(before))
		Expect(eventsOf(ctx, e)).To(HaveLen(1))
	})

	It("may not last for years, nor be about a policy without a gate", func(ctx SpecContext) {
		namespace := namespaceFor(ctx, false)
		policyIn(ctx, namespace)
		e := settled(ctx, exceptionTo(ctx, namespace, "MCPAuditPolicy", "default", time.Now().AddDate(3, 0, 0)), v1alpha1.ReasonInvalidSpec)
		Expect(statusOf(ctx, e)).To(Equal(status.FailedStatus))
		cluster := &v1alpha1.ClusterMCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		Expect(api.Create(ctx, cluster)).To(Succeed())
		settled(ctx, exceptionTo(ctx, namespace, "ClusterMCPAuditPolicy", namespace, time.Now().Add(time.Hour)), v1alpha1.ReasonPolicyNotFound)
	})
})
