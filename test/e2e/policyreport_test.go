//go:build e2e

package e2e

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

var _ = Describe("Where policy reports can be kept", func() {
	It("writes one for each verdict as soon as there is a kind of them, and it goes with the audit", func(ctx context.Context) {
		honest, leaky := newAudit("honest-go:dev"), newAudit("leaky-go:dev")
		Expect(k8s.Create(ctx, honest)).To(Succeed())
		Expect(k8s.Create(ctx, leaky)).To(Succeed())
		awaitVerdict(ctx, honest)
		awaitVerdict(ctx, leaky)

		definition, err := testenv.OpenReports()
		Expect(err).NotTo(HaveOccurred())
		crd := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal(definition, &crd.Object)).To(Succeed())
		Expect(k8s.Create(ctx, crd)).To(Succeed())
		DeferCleanup(func(ctx context.Context) { Expect(k8s.Delete(ctx, crd)).To(Succeed()) })

		report := func(of *v1alpha1.MCPServerAudit) (*unstructured.Unstructured, error) {
			found := &unstructured.Unstructured{}
			found.SetGroupVersionKind(schema.GroupVersionKind{Group: "openreports.io", Version: "v1alpha1", Kind: "Report"})
			return found, k8s.Get(ctx, client.ObjectKey{Namespace: of.Namespace, Name: "mcpaudit-" + of.Name}, found)
		}
		lines := func(of *v1alpha1.MCPServerAudit) ([]string, error) {
			found, err := report(of)
			results, _, _ := unstructured.NestedSlice(found.Object, "results")
			var all []string
			for _, r := range results {
				fields, _ := r.(map[string]any)
				all = append(all, fmt.Sprint(fields["rule"], " ", fields["severity"], " ", fields["result"]))
			}
			return all, err
		}
		Eventually(lines).WithArguments(honest).Should(Equal([]string{"verdict info pass"}))
		Eventually(lines).WithArguments(leaky).Should(ContainElements(
			"verdict critical fail", "MCPA-SECRET-002 critical fail", "MCPA-EGRESS-001 high fail"))

		By("deleting the audit")
		Expect(k8s.Delete(ctx, leaky)).To(Succeed())
		Eventually(func() bool { _, err := report(leaky); return apierrors.IsNotFound(err) }).Should(BeTrue())
	})
})
