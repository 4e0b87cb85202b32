//go:build envtest

package policyreport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	crconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/policyreport"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

const systemNamespace = "mcpaudit-system"

var (
	api    client.Client
	config *rest.Config

	policyReport = schema.GroupVersionKind{Group: "wgpolicyk8s.io", Version: "v1alpha2", Kind: "PolicyReport"}
	openReport   = schema.GroupVersionKind{Group: "openreports.io", Version: "v1alpha1", Kind: "Report"}
)

func TestPolicyReport(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Policy reports")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	environment, live, err := testenv.Start()
	if err != nil {
		Fail(err.Error())
	}
	DeferCleanup(environment.Stop)
	api, config = live, environment.Config
	for _, name := range []string{"mcpaudit-runs", systemNamespace} {
		Expect(api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	for _, file := range []string{"role.yaml", "role_bindings.yaml"} {
		content, err := os.ReadFile(filepath.Join("..", "..", "config", "rbac", file))
		Expect(err).NotTo(HaveOccurred())
		create(ctx, content)
	}
})

// create makes what a file of YAML says, and returns the last.
func create(ctx context.Context, text []byte) *unstructured.Unstructured {
	GinkgoHelper()
	var made *unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return made
		}
		Expect(err).NotTo(HaveOccurred())
		Expect(api.Create(ctx, object)).To(Succeed())
		made = object
	}
}

// start runs the controller as cmd/manager does, as the service account of config/rbac,
// until the spec ends or the function is called.
func start(ctx context.Context, never bool) (stop func()) {
	GinkgoHelper()
	asManager := rest.CopyConfig(config)
	asManager.Impersonate.UserName = "system:serviceaccount:" + systemNamespace + ":mcpaudit-manager"
	manager, err := ctrl.NewManager(asManager, ctrl.Options{
		Scheme: api.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: crconfig.Controller{SkipNameValidation: ptr.To(true)}, // one process starts several
	})
	Expect(err).NotTo(HaveOccurred())
	reconciler := &policyreport.Reconciler{Client: manager.GetClient(), Never: never}
	Expect(reconciler.SetupWithManager(manager)).To(Succeed())
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		Expect(manager.Start(ctx)).To(Succeed())
	}()
	stop = func() {
		cancel()
		<-done
	}
	DeferCleanup(stop)
	return stop
}

// passes counts the reconciliations of this process, and those of them that failed.
func passes() (all, failed float64) {
	GinkgoHelper()
	families, err := metrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		for _, m := range family.GetMetric() {
			switch family.GetName() {
			case "controller_runtime_reconcile_total":
				all += m.GetCounter().GetValue()
			case "controller_runtime_reconcile_errors_total":
				failed += m.GetCounter().GetValue()
			}
		}
	}
	return all, failed
}

func eventually(ctx context.Context, check func(Gomega)) {
	GinkgoHelper()
	Eventually(ctx, check).WithTimeout(30 * time.Second).WithPolling(50 * time.Millisecond).Should(Succeed())
}

// install makes a published definition, which goes with the spec.
func install(ctx context.Context, read func() ([]byte, error)) *unstructured.Unstructured {
	GinkgoHelper()
	text, err := read()
	Expect(err).NotTo(HaveOccurred())
	crd := create(ctx, text)
	DeferCleanup(func(ctx context.Context) { remove(ctx, crd) })
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

// namespaceFor makes a namespace for one spec.
func namespaceFor(ctx context.Context) string {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-"}}
	Expect(api.Create(ctx, namespace)).To(Succeed())
	return namespace.Name
}

// audited makes an audit with a verdict, in one write of the status.
func audited(ctx context.Context, namespace, name string, change func(*v1alpha1.MCPServerAudit)) *v1alpha1.MCPServerAudit {
	GinkgoHelper()
	made := &v1alpha1.MCPServerAudit{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "registry.example/notes:1"}},
	}
	Expect(api.Create(ctx, made)).To(Succeed())
	DeferCleanup(func(ctx context.Context) { Expect(client.IgnoreNotFound(api.Delete(ctx, made))).To(Succeed()) })
	decide(ctx, made, change)
	return made
}

// decide writes a status.
func decide(ctx context.Context, of *v1alpha1.MCPServerAudit, change func(*v1alpha1.MCPServerAudit)) {
	GinkgoHelper()
	change(of)
	Expect(api.Status().Update(ctx, of)).To(Succeed())
}

// read is the report of an audit in one of the kinds; nil if there is none.
func read(ctx context.Context, kind schema.GroupVersionKind, of *v1alpha1.MCPServerAudit) *unstructured.Unstructured {
	GinkgoHelper()
	report := &unstructured.Unstructured{}
	report.SetGroupVersionKind(kind)
	err := api.Get(ctx, client.ObjectKey{Namespace: of.Namespace, Name: "mcpaudit-" + of.Name}, report)
	if err != nil {
		return nil
	}
	return report
}

// outcomes are the results of a report as "rule result", and its summary.
func outcomes(report *unstructured.Unstructured) (lines []string, counts string) {
	if report == nil {
		return nil, ""
	}
	results, _, _ := unstructured.NestedSlice(report.Object, "results")
	for _, r := range results {
		fields, _ := r.(map[string]any)
		lines = append(lines, fmt.Sprint(fields["rule"], " ", fields["result"]))
	}
	return lines, fmt.Sprint(report.Object["summary"])
}
