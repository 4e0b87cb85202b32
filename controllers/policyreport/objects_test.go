//go:build envtest

package policyreport_test

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/policyreport"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

var api client.Client

var (
	policyReport = schema.GroupVersionKind{Group: "wgpolicyk8s.io", Version: "v1alpha2", Kind: "PolicyReport"}
	openReport   = schema.GroupVersionKind{Group: "openreports.io", Version: "v1alpha1", Kind: "Report"}
)

// start runs the controller as cmd/manager does, as the service account of config/rbac,
// until the spec ends or the function is called.
func start(ctx context.Context, never bool) (stop func()) {
	GinkgoHelper()
	manager := testenv.Manager("mcpaudit-manager", ctrl.Options{})
	reconciler := &policyreport.Reconciler{Client: manager.GetClient(), Never: never}
	Expect(reconciler.SetupWithManager(manager)).To(Succeed())
	stop = testenv.Run(ctx, manager)
	DeferCleanup(stop)
	return stop
}

// install makes a published definition, which goes with the spec.
func install(ctx context.Context, read func() ([]byte, error)) *unstructured.Unstructured {
	GinkgoHelper()
	text, err := read()
	Expect(err).NotTo(HaveOccurred())
	crd := testenv.Create(ctx, string(text))[0]
	DeferCleanup(func(ctx context.Context) { testenv.Remove(ctx, crd) })
	return crd
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
