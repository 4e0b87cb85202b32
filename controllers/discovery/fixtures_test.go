//go:build envtest

package discovery_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/discovery"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

var api client.Client

// startManager runs the controller as cmd/manager does, as the service account of
// config/rbac. The caller stops it.
func startManager(ctx context.Context) (stop func()) {
	GinkgoHelper()
	manager := testenv.Manager("mcpaudit-manager", ctrl.Options{})
	reconciler := &discovery.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(),
		Events: manager.GetEventRecorder("mcpaudit"), Clock: clock.RealClock{},
	}
	Expect(reconciler.SetupWithManager(manager)).To(Succeed())
	return testenv.Run(ctx, manager)
}

// policyFor makes a policy that looks at one namespace only, and goes with the spec.
func policyFor(ctx context.Context, namespace string, changes ...func(*v1alpha1.Discovery)) *v1alpha1.ClusterMCPAuditPolicy {
	GinkgoHelper()
	d := &v1alpha1.Discovery{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}}
	for _, change := range changes {
		change(d)
	}
	policy := &v1alpha1.ClusterMCPAuditPolicy{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "policy-"}, Spec: v1alpha1.ClusterMCPAuditPolicySpec{Discovery: d},
	}
	Expect(api.Create(ctx, policy)).To(Succeed())
	DeferCleanup(func(ctx context.Context) { Expect(client.IgnoreNotFound(api.Delete(ctx, policy))).To(Succeed()) })
	return policy
}

// settled waits until the policy has said what it discovered, audited and skipped.
func settled(ctx context.Context, policy *v1alpha1.ClusterMCPAuditPolicy, discovered, audited, skipped int) {
	GinkgoHelper()
	testenv.Eventually(ctx, func(g Gomega) {
		g.Expect(api.Get(ctx, client.ObjectKeyFromObject(policy), policy)).To(Succeed())
		g.Expect(policy.Status.ObservedGeneration).To(Equal(policy.Generation))
		g.Expect(meta.IsStatusConditionTrue(policy.Status.Conditions, v1alpha1.ConditionReady)).To(BeTrue(), "%v", policy.Status.Conditions)
		d := policy.Status.Discovery
		g.Expect([]int32{d.Discovered, d.Audited, d.Skipped}).To(Equal([]int32{int32(discovered), int32(audited), int32(skipped)}), "%+v", d)
	})
}

// images are the audits of a namespace by their names.
func images(ctx context.Context, namespace string) map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	for _, audit := range audits(ctx, namespace) {
		found[audit.Name] = audit.Spec.Server.Image
	}
	return found
}

func audits(ctx context.Context, namespace string) []v1alpha1.MCPServerAudit {
	GinkgoHelper()
	var list v1alpha1.MCPServerAuditList
	Expect(api.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
	return list.Items
}

func auditNamed(ctx context.Context, namespace, name string) *v1alpha1.MCPServerAudit {
	GinkgoHelper()
	audit := &v1alpha1.MCPServerAudit{}
	Expect(api.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, audit)).To(Succeed())
	return audit
}

// workload is a labelled Deployment, StatefulSet or DaemonSet.
func workload(kind, namespace, name, image string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: %s
metadata: {name: %q, namespace: %s, labels: {mcpaudit.dev/server: "true"}}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: server, image: %q}]}
`, kind, name, namespace, image)
}

// definition is a CRD of a kind MCPServer that lets everything through.
func definition(group string, versions ...string) string {
	text := fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: mcpservers.%s}
spec:
  group: %s
  scope: Namespaced
  names: {kind: MCPServer, listKind: MCPServerList, plural: mcpservers, singular: mcpserver}
  versions:`, group, group)
	for i, version := range versions {
		text += fmt.Sprintf(`
  - {name: %s, served: true, storage: %t, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {
      spec: {x-kubernetes-preserve-unknown-fields: true}, status: {x-kubernetes-preserve-unknown-fields: true}}}}}`, version, i == 0)
	}
	return text
}

// install makes a CRD and waits until it is served.
func install(ctx context.Context, text string) *unstructured.Unstructured {
	GinkgoHelper()
	crd := testenv.Create(ctx, text)[0]
	testenv.Eventually(ctx, func(g Gomega) {
		g.Expect(api.Get(ctx, client.ObjectKeyFromObject(crd), crd)).To(Succeed())
		g.Expect(fmt.Sprint(crd.Object["status"])).To(MatchRegexp(`status:True type:Established`))
	})
	// Established comes before the API server's discovery and its handler have the kind.
	testenv.Eventually(ctx, func(g Gomega) {
		group, _, err := unstructured.NestedString(crd.Object, "spec", "group")
		g.Expect(err).NotTo(HaveOccurred())
		kind, _, err := unstructured.NestedString(crd.Object, "spec", "names", "kind")
		g.Expect(err).NotTo(HaveOccurred())
		versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
		g.Expect(err).NotTo(HaveOccurred())
		for _, v := range versions {
			var list unstructured.UnstructuredList
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: v.(map[string]any)["name"].(string), Kind: kind + "List"})
			g.Expect(api.List(ctx, &list)).To(Succeed())
		}
	})
	return crd
}

func sampleText() string {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", "discovery.yaml"))
	Expect(err).NotTo(HaveOccurred())
	return string(content)
}
