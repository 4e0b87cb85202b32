//go:build envtest

package policyreport_test

import (
	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/policyreport"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

var _ = Describe("Policy reports", func() {
	It("does nothing while there is no kind of them, and all of it once there is", func(ctx SpecContext) {
		before, _ := testenv.Passes()
		start(ctx, false)
		notes := audited(ctx, testenv.Namespace(ctx, nil), "notes", passed)
		decide(ctx, notes, failed)
		Consistently(func() float64 { all, _ := testenv.Passes(); return all }, "1s", "100ms").Should(Equal(before))

		crd := install(ctx, testenv.PolicyReports)
		testenv.Eventually(ctx, func(g Gomega) {
			lines, counts := outcomes(read(ctx, policyReport, notes))
			g.Expect(lines).To(Equal([]string{"verdict fail", "MCPA-SECRET-002 fail", "MCPA-EGRESS-001 skip", "MCPA-FILE-001 fail", "MCPA-HINT-001 warn"}))
			g.Expect(counts).To(Equal("map[error:0 fail:3 pass:0 skip:1 warn:1]"))
		})

		By("removing the kind, and installing it again")
		testenv.Remove(ctx, crd)
		decide(ctx, notes, passed)
		_, errors := testenv.Passes()
		install(ctx, testenv.PolicyReports)
		testenv.Eventually(ctx, func(g Gomega) {
			lines, _ := outcomes(read(ctx, policyReport, notes))
			g.Expect(lines).To(Equal([]string{"verdict pass"}))
		})
		_, after := testenv.Passes()
		Expect(after-errors).To(BeNumerically("<=", 1), "a write may meet the kind as it goes")
	})

	for i, kind := range []schema.GroupVersionKind{openReport, policyReport} {
		read, definition := func(ctx SpecContext, of *v1alpha1.MCPServerAudit) *unstructured.Unstructured {
			return read(ctx, kind, of)
		}, testenv.OpenReports
		if kind == policyReport {
			definition = testenv.PolicyReports
		}

		It("writes all that the published definition of "+kind.Kind+" keeps, once for each verdict", func(ctx SpecContext) {
			install(ctx, definition)
			stop := start(ctx, false)
			notes := audited(ctx, testenv.Namespace(ctx, nil), "notes", failed)
			var report *unstructured.Unstructured
			testenv.Eventually(ctx, func(g Gomega) { report = read(ctx, notes); g.Expect(report).NotTo(BeNil()) })
			want, err := policyreport.Build(i, notes)
			Expect(err).NotTo(HaveOccurred())
			for _, field := range []string{"source", "scope", "summary", "results"} {
				Expect(cmp.Diff(want.Object[field], report.Object[field])).To(BeEmpty(), field)
			}
			Expect(report.GetOwnerReferences()).To(Equal(want.GetOwnerReferences()))
			Expect(report.GetGeneration()).To(BeEquivalentTo(1))

			By("changing what the report does not say")
			decide(ctx, notes, func(a *v1alpha1.MCPServerAudit) { a.Status.ConsecutiveFailures = 7 })
			By("another manager, which lists everything anew")
			stop()
			before, _ := testenv.Passes()
			start(ctx, false)
			testenv.Eventually(ctx, func(g Gomega) { all, _ := testenv.Passes(); g.Expect(all).To(BeNumerically(">", before)) })
			decide(ctx, notes, inconclusive)
			testenv.Eventually(ctx, func(g Gomega) {
				lines, counts := outcomes(read(ctx, notes))
				g.Expect(lines).To(Equal([]string{"verdict error"}))
				g.Expect(counts).To(Equal("map[error:1 fail:0 pass:0 skip:0 warn:0]"))
			})
			Expect(read(ctx, notes).GetGeneration()).To(BeEquivalentTo(2), "one write for each of two verdicts")
		})
	}

	It("takes back what somebody changed or deleted, and leaves what is somebody else's", func(ctx SpecContext) {
		install(ctx, testenv.OpenReports)
		namespace := testenv.Namespace(ctx, nil)
		theirs := &unstructured.Unstructured{Object: map[string]any{"source": "theirs", "summary": map[string]any{"pass": int64(9)}}}
		theirs.SetGroupVersionKind(openReport)
		theirs.SetNamespace(namespace)
		theirs.SetName("mcpaudit-taken")
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(api.Create(ctx, theirs)).To(Succeed()) })
		_, before := testenv.Passes()
		start(ctx, false)
		notes, taken := audited(ctx, namespace, "notes", failed), audited(ctx, namespace, "taken", passed)
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(read(ctx, openReport, notes)).NotTo(BeNil()) })

		report := read(ctx, openReport, notes)
		Expect(unstructured.SetNestedField(report.Object, int64(99), "summary", "pass")).To(Succeed())
		report.SetAnnotations(map[string]string{"team": "a"})
		Expect(api.Update(ctx, report)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) {
			report = read(ctx, openReport, notes)
			_, counts := outcomes(report)
			g.Expect(counts).To(Equal("map[error:0 fail:3 pass:0 skip:1 warn:1]"))
		})
		Expect(report.GetAnnotations()).To(Equal(map[string]string{"team": "a"}))
		Expect(api.Delete(ctx, report)).To(Succeed())
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(read(ctx, openReport, notes)).NotTo(BeNil()) })

		testenv.Eventually(ctx, func(g Gomega) { _, errors := testenv.Passes(); g.Expect(errors).To(BeNumerically(">", before)) })
		Expect(read(ctx, openReport, taken).Object["source"]).To(Equal("theirs"))
	})

	It("prefers OpenReports, and leaves no report in the other kind", func(ctx SpecContext) {
		install(ctx, testenv.PolicyReports)
		stop := start(ctx, false)
		notes := audited(ctx, testenv.Namespace(ctx, nil), "notes", passed)
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(read(ctx, policyReport, notes)).NotTo(BeNil()) })
		preferred := install(ctx, testenv.OpenReports)
		testenv.Eventually(ctx, func(g Gomega) {
			g.Expect(read(ctx, openReport, notes)).NotTo(BeNil())
			g.Expect(read(ctx, policyReport, notes)).To(BeNil())
		})
		testenv.Remove(ctx, preferred)
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(read(ctx, policyReport, notes)).NotTo(BeNil()) })

		By("policyReports: Never")
		stop()
		start(ctx, true)
		testenv.Eventually(ctx, func(g Gomega) { g.Expect(read(ctx, policyReport, notes)).To(BeNil()) })
	})
})
