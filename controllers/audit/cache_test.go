//go:build envtest

package audit_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/audit"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
)

var _ = Describe("the cache", func() {
	It("holds nothing that no step reads", func() {
		object := &v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
			Annotations:   map[string]string{corev1.LastAppliedConfigAnnotation: "{}", v1alpha1.RequestedAtAnnotation: "now"},
		}}
		stripped, err := audit.Strip(object)
		Expect(err).NotTo(HaveOccurred())
		Expect(stripped).To(Equal(&v1alpha1.MCPServerAudit{ObjectMeta: metav1.ObjectMeta{
			Annotations: map[string]string{v1alpha1.RequestedAtAnnotation: "now"},
		}}))
		gone := cache.DeletedFinalStateUnknown{Key: "team-a/notes", Obj: object}
		Expect(audit.Strip(gone)).To(Equal(gone))
	})

	It("S5: runs a large audit as its spec says, of which it keeps a part", func(ctx SpecContext) {
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			for i := range 20 {
				a.Spec.Server.Env = append(a.Spec.Server.Env, v1alpha1.EnvVar{Name: fmt.Sprint("V", i), Value: strings.Repeat("x", 1000)})
			}
		})
		stop := b.startManager(ctx)
		defer stop()
		cached := &v1alpha1.MCPServerAudit{}
		Eventually(ctx, func(g Gomega) {
			g.Expect(b.Client.Get(ctx, b.key, cached)).To(Succeed())
			g.Expect(b.pods(ctx)).To(HaveLen(1))
		}).Should(Succeed())
		Expect(cached.Spec.Server.Env).To(HaveEach(v1alpha1.EnvVar{}), "that there are some, and no value")
		Expect(cached.TrimmedSpec).NotTo(BeEmpty())
		for _, c := range b.pod(ctx).Spec.Containers {
			if c.Name == podspec.ContainerServer {
				Expect(c.Env).To(ContainElement(HaveField("Name", "V19")))
			}
		}
		b.finish(ctx, b.pod(ctx), clean())
		Eventually(ctx, func(g Gomega) {
			g.Expect(b.audit(ctx)).To(haveCondition("Ready", "Passed"))
		}).Should(Succeed())
		Expect(b.audit(ctx).Status.Trigger.SpecDigest).To(Equal(cached.TrimmedSpec))
		Expect(b.audit(ctx).Spec.Server.Env).To(HaveLen(20))
	})

	It("loses nothing of an object that is written from it", func(ctx SpecContext) {
		const applied = `{"apiVersion":"mcpaudit.dev/v1alpha1","kind":"MCPServerAudit"}`
		b := newBench(ctx, func(a *v1alpha1.MCPServerAudit) {
			a.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: applied, "example.com/team": "a"}
		})
		created := b.audit(ctx)
		stop := b.startManager(ctx)
		defer stop()
		Eventually(ctx, func(g Gomega) { g.Expect(b.pods(ctx)).To(HaveLen(1)) }).Should(Succeed())
		b.finish(ctx, b.pod(ctx), clean())
		Eventually(ctx, func(g Gomega) {
			g.Expect(b.audit(ctx)).To(haveCondition("Ready", "Passed"))
		}).Should(Succeed())

		decided := b.audit(ctx)
		Expect(decided.Annotations).To(Equal(created.Annotations))
		Expect(decided.Finalizers).To(ConsistOf(v1alpha1.Finalizer))
		Expect(decided.Spec).To(Equal(created.Spec))
		for _, before := range created.ManagedFields {
			Expect(decided.ManagedFields).To(ContainElement(HaveField("Manager", before.Manager)))
		}
	})
})
