//go:build envtest

package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/discovery"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

const (
	runNamespace    = "mcpaudit-runs"
	systemNamespace = "mcpaudit-system"
)

var (
	api    client.Client
	config *rest.Config
)

func TestDiscovery(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "ClusterMCPAuditPolicy controller")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	environment, live, err := testenv.Start()
	if err != nil {
		Fail(err.Error())
	}
	DeferCleanup(environment.Stop)
	api, config = live, environment.Config
	for _, name := range []string{runNamespace, systemNamespace} {
		Expect(api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	for _, file := range []string{"role.yaml", "role_bindings.yaml"} {
		content, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", file))
		Expect(err).NotTo(HaveOccurred())
		create(ctx, string(content))
	}
})

// create makes what a text of YAML says.
func create(ctx context.Context, text string) []*unstructured.Unstructured {
	GinkgoHelper()
	var made []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return made
		}
		Expect(err).NotTo(HaveOccurred())
		Expect(api.Create(ctx, object)).To(Succeed())
		made = append(made, object)
	}
}

// startManager runs the controller as cmd/manager does, as the service account of
// config/rbac. The caller stops it.
func startManager(ctx context.Context) (stop func()) {
	GinkgoHelper()
	asManager := rest.CopyConfig(config)
	asManager.Impersonate.UserName = "system:serviceaccount:" + systemNamespace + ":mcpaudit-manager"
	manager, err := ctrl.NewManager(asManager, ctrl.Options{
		Scheme: api.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: crconfig.Controller{SkipNameValidation: ptr.To(true)}, // one process starts several
	})
	Expect(err).NotTo(HaveOccurred())
	reconciler := &discovery.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(),
		Events: manager.GetEventRecorder("mcpaudit"), Clock: clock.RealClock{},
	}
	Expect(reconciler.SetupWithManager(manager)).To(Succeed())
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		Expect(manager.Start(ctx)).To(Succeed())
	}()
	return func() {
		cancel()
		<-done
	}
}

// passes counts the reconciliations of this process.
func passes() float64 {
	families, err := metrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	sum := 0.0
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			sum += m.GetCounter().GetValue()
		}
	}
	return sum
}

func eventually(ctx context.Context, check func(Gomega)) {
	GinkgoHelper()
	Eventually(ctx, check).WithTimeout(30 * time.Second).WithPolling(50 * time.Millisecond).Should(Succeed())
}

// namespaceFor makes a namespace for one spec.
func namespaceFor(ctx context.Context, labels map[string]string) string {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-", Labels: labels}}
	Expect(api.Create(ctx, namespace)).To(Succeed())
	return namespace.Name
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
	eventually(ctx, func(g Gomega) {
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
	crd := create(ctx, text)[0]
	eventually(ctx, func(g Gomega) {
		g.Expect(api.Get(ctx, client.ObjectKeyFromObject(crd), crd)).To(Succeed())
		g.Expect(fmt.Sprint(crd.Object["status"])).To(MatchRegexp(`status:True type:Established`))
	})
	// Established comes before the API server's discovery and its handler have the kind.
	eventually(ctx, func(g Gomega) {
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

// remove deletes an object and waits until it is gone.
func remove(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(client.IgnoreNotFound(api.Delete(ctx, object))).To(Succeed())
	eventually(ctx, func(g Gomega) {
		g.Expect(apierrors.IsNotFound(api.Get(ctx, client.ObjectKeyFromObject(object), object))).To(BeTrue())
	})
}

func decode(text string, into *unstructured.Unstructured) {
	GinkgoHelper()
	Expect(yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096).Decode(&into.Object)).To(Succeed())
}

func sampleText() string {
	GinkgoHelper()
	content, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", "discovery.yaml"))
	Expect(err).NotTo(HaveOccurred())
	return string(content)
}
