//go:build e2e

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

const (
	webhookName = "mcpaudit-gate"
	certificate = "mcpaudit-gate-certificate"
	// byAPIServer is in the message of a ValidatingAdmissionPolicy that denies, byWebhook in that of the operator.
	byAPIServer = "denied request"
	byWebhook   = "denied the request"
)

// awaitFloor waits until the API server by itself denies the image that failed.
func awaitFloor(ctx context.Context) {
	GinkgoHelper()
	a, failed := asking(), pod(byDigest(reviewed(ctx).leaky))
	Eventually(func() error { return a.create(ctx, failed).err }).
		WithContext(ctx).Should(MatchError(ContainSubstring(byAPIServer)))
}

// in is a Pod of another namespace, as the Pod Security level restricted wants it.
func in(elsewhere string) *corev1.Pod {
	return pod(unaudited, func(p *corev1.Pod) {
		p.Namespace = elsewhere
		p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), RunAsNonRoot: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		}
	})
}

// expectOutage expects the webhook to be out of the way, and the API server to deny
// what is known to be bad.
func expectOutage(ctx context.Context) {
	GinkgoHelper()
	a, r := asking(), reviewed(ctx)
	Eventually(func() error { return a.create(ctx, pod(unaudited)).err }).
		WithContext(ctx).Should(Succeed(), "nothing that is not known to be bad is blocked")
	Expect(a.create(ctx, pod(byDigest(r.honest))).err).NotTo(HaveOccurred())
	Expect(a.create(ctx, deployment(unaudited)).err).NotTo(HaveOccurred())
	var all sync.WaitGroup // each of them may wait until the API server gives the webhook up
	for what, object := range disguises(byDigest(r.leaky), byDigest(r.honest)) {
		all.Go(func() {
			defer GinkgoRecover()
			a.expectDenied(ctx, what, object, byAPIServer)
		})
	}
	all.Wait()
	expectNotAsked(ctx, a)
}

// expectNotAsked expects Pods of namespaces that the webhook is never asked about to need
// no answer. What may run in the run namespace the API server decides by itself.
func expectNotAsked(ctx context.Context, a *asker) {
	GinkgoHelper()
	for _, elsewhere := range []string{metav1.NamespaceSystem, systemNamespace, metav1.NamespaceDefault} {
		Expect(a.create(ctx, in(elsewhere)).err).NotTo(HaveOccurred(), elsewhere)
	}
	Expect(a.create(ctx, in(runNamespace)).err).To(MatchError(ContainSubstring("ValidatingAdmissionPolicy 'mcpaudit-runs'")))
}

// expectBack expects the webhook to deny again, without anybody's doing.
func expectBack(ctx context.Context) {
	GinkgoHelper()
	Eventually(func() error { return asking().create(ctx, pod(unaudited)).err }).
		WithContext(ctx).Should(MatchError(ContainSubstring(byWebhook)))
}

func restoreGate(ctx context.Context) { scale(ctx, gateDeployment, managerReplicas) }

// expired is a serving certificate of yesterday, of an authority of its own.
func expired() map[string][]byte {
	GinkgoHelper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	name := webhookName + "." + systemNamespace + ".svc"
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().AddDate(0, 0, -2), NotAfter: time.Now().AddDate(0, 0, -1), KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	Expect(err).NotTo(HaveOccurred())
	private, err := x509.MarshalPKCS8PrivateKey(key)
	Expect(err).NotTo(HaveOccurred())
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	return map[string][]byte{"tls.crt": public, "ca.crt": public, "tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})}
}

// withoutList takes the right to list a kind from the gate until the spec is over.
func withoutList(ctx context.Context, resource string) (restore func(context.Context)) {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	Expect(k8s.Get(ctx, client.ObjectKey{Name: "mcpaudit-gate"}, role)).To(Succeed())
	rules := role.Rules
	set := func(ctx context.Context, rules []rbacv1.PolicyRule) {
		GinkgoHelper()
		Expect(k8s.Get(ctx, client.ObjectKeyFromObject(role), role)).To(Succeed())
		before := role.DeepCopy()
		role.Rules = rules
		Expect(k8s.Patch(ctx, role, client.MergeFrom(before))).To(Succeed())
	}
	restore = func(ctx context.Context) { set(ctx, rules) }
	less := make([]rbacv1.PolicyRule, 0, len(rules))
	for _, rule := range rules {
		rule.Resources = slices.DeleteFunc(slices.Clone(rule.Resources), func(r string) bool { return r == resource })
		if len(rule.Resources) > 0 || len(rule.NonResourceURLs) > 0 {
			less = append(less, rule)
		}
	}
	DeferCleanup(restore)
	set(ctx, less)
	return restore
}

var _ = Describe("While the webhook does not answer", Label(chaos), Serial, func() {
	BeforeEach(func(ctx context.Context) {
		gate(ctx, func(s *v1alpha1.ClusterMCPAuditPolicySpec) { s.Gate.Offline = v1alpha1.OfflineDenyFailed })
		awaitFloor(ctx)
	})

	It("nothing else is blocked: the gate is away", func(ctx context.Context) {
		DeferCleanup(restoreGate)
		scale(ctx, gateDeployment, 0)
		expectOutage(ctx)
		restoreGate(ctx)
		expectBack(ctx)
	})

	It("nothing else is blocked: the gates are killed", func(ctx context.Context) {
		killGates()
		a := asking()
		failed := pod(byDigest(reviewed(ctx).leaky))
		for range 20 { // with the webhook or without
			Expect(a.create(ctx, failed).err).To(HaveOccurred())
			Expect(a.create(ctx, pod(byDigest(reviewed(ctx).honest))).err).NotTo(HaveOccurred())
		}
		expectBack(ctx)
	})

	It("the gate decides while the manager is away", func(ctx context.Context) {
		DeferCleanup(scaleManager, managerReplicas)
		scaleManager(ctx, 0)
		Expect(asking().create(ctx, pod(unaudited)).err).To(MatchError(ContainSubstring(byWebhook)))
		Expect(asking().create(ctx, pod(byDigest(reviewed(ctx).honest))).err).NotTo(HaveOccurred())
	})

	It("nothing else is blocked: its endpoint is a black hole", func(ctx context.Context) {
		service := &corev1.Service{}
		Expect(k8s.Get(ctx, client.ObjectKey{Namespace: systemNamespace, Name: webhookName}, service)).To(Succeed())
		chosen := service.Spec.Selector
		selects := func(ctx context.Context, pods map[string]string) {
			GinkgoHelper()
			Expect(k8s.Get(ctx, client.ObjectKeyFromObject(service), service)).To(Succeed())
			before := service.DeepCopy()
			service.Spec.Selector = pods
			Expect(k8s.Patch(ctx, service, client.MergeFrom(before))).To(Succeed())
		}
		selects(ctx, nil)
		DeferCleanup(selects, chosen)
		Expect(k8s.DeleteAllOf(ctx, &discoveryv1.EndpointSlice{}, client.InNamespace(systemNamespace),
			client.MatchingLabels{discoveryv1.LabelServiceName: webhookName})).To(Succeed())
		hole := &discoveryv1.EndpointSlice{
			ObjectMeta:  metav1.ObjectMeta{Name: "black-hole", Namespace: systemNamespace, Labels: map[string]string{discoveryv1.LabelServiceName: webhookName}},
			AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{"192.0.2.1"}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}}, // TEST-NET-1
			Ports:       []discoveryv1.EndpointPort{{Name: new(service.Spec.Ports[0].Name), Port: new(int32(9443)), Protocol: new(corev1.ProtocolTCP)}},
		}
		Expect(k8s.Create(ctx, hole)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(client.IgnoreNotFound(k8s.Delete(ctx, hole))).To(Succeed()) })
		killGates() // the connections that are there
		expectOutage(ctx)
		Expect(k8s.Delete(ctx, hole)).To(Succeed())
		selects(ctx, chosen)
		expectBack(ctx)
	})

	It("nothing else is blocked: its certificate has expired, and it makes another", func(ctx context.Context) {
		DeferCleanup(restoreGate)
		DeferCleanup(scaleManager, managerReplicas)
		scaleManager(ctx, 0)
		secret := &corev1.Secret{}
		Expect(k8s.Get(ctx, client.ObjectKey{Namespace: systemNamespace, Name: certificate}, secret)).To(Succeed())
		secret.Data = expired()
		Expect(k8s.Update(ctx, secret)).To(Succeed())
		killGates() // what is served is good until there is something better
		expectOutage(ctx)
		scaleManager(ctx, managerReplicas)
		expectBack(ctx)
	})

	It("nothing else is blocked: its caches are not filled", func(ctx context.Context) {
		restore := withoutList(ctx, "mcpauditexceptions")
		killGates()
		expectOutage(ctx)
		Eventually(func(g Gomega) { // the kubelet takes a moment to see that they were killed
			var pods corev1.PodList
			g.Expect(k8s.List(ctx, &pods, client.InNamespace(systemNamespace), client.MatchingLabels{"app.kubernetes.io/component": "gate"})).To(Succeed())
			g.Expect(pods.Items).NotTo(BeEmpty())
			for _, p := range pods.Items {
				g.Expect(p.Status.Conditions).NotTo(ContainElement(And(HaveField("Type", corev1.PodReady), HaveField("Status", corev1.ConditionTrue))), p.Name)
				g.Expect(p.Status.ContainerStatuses).To(HaveEach(HaveField("State.Running", Not(BeNil()))), p.Name)
			}
		}).WithContext(ctx).Should(Succeed())
		restore(ctx)
		expectBack(ctx)
	})

	It("known-bad is denied from the first request on that a restarted API server answers", func(ctx context.Context) {
		a, failed := asking(), pod(byDigest(reviewed(ctx).leaky))
		for range 3 {
			node("TERM", "kube-apiserver")
			answers := 0
			Eventually(func() int {
				err := a.create(ctx, failed).err
				Expect(err).To(HaveOccurred(), "the image that failed got through")
				if apierrors.ReasonForError(err) == metav1.StatusReasonForbidden {
					answers++
				}
				return answers
			}).WithContext(ctx).WithTimeout(3 * time.Minute).WithPolling(20 * time.Millisecond).Should(BeNumerically(">=", 20))
		}
		expectBack(ctx)
		Expect(a.create(ctx, pod(byDigest(reviewed(ctx).honest))).err).NotTo(HaveOccurred())
	})
})

var _ = Describe("With failurePolicy Fail, while the webhook does not answer", Label(chaos), Serial, func() {
	It("blocks what it is asked about, and neither the system's namespaces nor the nodes", func(ctx context.Context) {
		gate(ctx)
		r := reviewed(ctx)
		Expect(k8s.Create(ctx, deployment(byDigest(r.honest)))).To(Succeed())
		awaitAvailable(ctx, deployment(byDigest(r.honest)))
		setFailurePolicy(ctx, admissionregistrationv1.Fail)
		for _, name := range []string{metav1.NamespaceSystem, systemNamespace, runNamespace} { // a mistake that somebody may make
			mustKubectl(ctx, "", "label", "namespace", name, v1alpha1.GateLabel+"="+v1alpha1.GateEnabled)
			DeferCleanup(func(ctx context.Context) { mustKubectl(ctx, "", "label", "namespace", name, v1alpha1.GateLabel+"-") })
		}
		DeferCleanup(restoreGate)
		scale(ctx, gateDeployment, 0)

		a := asking()
		Eventually(func() error { return a.create(ctx, pod(byDigest(r.honest))).err }).
			WithContext(ctx).Should(MatchError(ContainSubstring("failed calling webhook")))
		expectNotAsked(ctx, a)

		By("scaling down, labelling and deleting in the namespace")
		for _, args := range [][]string{{"scale", "deployment/notes", "--replicas=0"}, {"label", "deployment/notes", "a=b"}} {
			mustKubectl(ctx, "", append([]string{"-n", namespace}, args...)...)
		}
		Eventually(func(g Gomega) {
			var pods corev1.PodList
			g.Expect(k8s.List(ctx, &pods, client.InNamespace(namespace))).To(Succeed())
			g.Expect(pods.Items).To(BeEmpty())
		}).WithContext(ctx).Should(Succeed(), "the ReplicaSet is scaled down as well")
		mustKubectl(ctx, "", "-n", namespace, "delete", "deployment/notes")

		By("doing what a node does")
		expectNodeTraffic(ctx)

		By("letting the gate come back by itself")
		restoreGate(ctx)
		Eventually(func() error { return a.create(ctx, pod(byDigest(r.honest))).err }).
			WithContext(ctx).Should(Succeed())
		expectBack(ctx)
	})
})

// setFailurePolicy returns what config/webhook/fail does, until the spec is over.
func setFailurePolicy(ctx context.Context, to admissionregistrationv1.FailurePolicyType) {
	GinkgoHelper()
	set := func(ctx context.Context, to admissionregistrationv1.FailurePolicyType) {
		GinkgoHelper()
		hook := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		Expect(k8s.Get(ctx, client.ObjectKey{Name: webhookName}, hook)).To(Succeed())
		for i := range hook.Webhooks {
			hook.Webhooks[i].FailurePolicy = &to
		}
		Expect(k8s.Update(ctx, hook)).To(Succeed())
	}
	set(ctx, to)
	DeferCleanup(set, admissionregistrationv1.Ignore)
}

// expectNodeTraffic expects a node to be able to do all that it does: its lease, its
// status, and the mirror of a static Pod, in the gated namespace of all places.
func expectNodeTraffic(ctx context.Context) {
	GinkgoHelper()
	var nodes corev1.NodeList
	Expect(k8s.List(ctx, &nodes)).To(Succeed())
	node := nodes.Items[0]
	kubelet := asking(as("system:node:"+node.Name, "system:nodes", "system:authenticated"))
	lease := &coordinationv1.Lease{}
	Expect(kubelet.Get(ctx, client.ObjectKey{Namespace: corev1.NamespaceNodeLease, Name: node.Name}, lease)).To(Succeed())
	lease.Spec.RenewTime = new(metav1.NowMicro())
	Expect(kubelet.Update(ctx, lease, client.DryRunAll)).To(Succeed())
	Expect(kubelet.Status().Patch(ctx, node.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"status":{}}`)), client.DryRunAll)).To(Succeed())
	mirror := pod(unaudited, func(p *corev1.Pod) {
		p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "0123", "kubernetes.io/config.source": "file", "kubernetes.io/config.hash": "0123"}
		p.Spec.NodeName = node.Name
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID, Controller: new(true)}}
	})
	Expect(kubelet.Create(ctx, mirror, client.DryRunAll)).To(Succeed())
}
