//go:build e2e

package e2e

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// The limits of the operator while these tests run (operator.yaml).
const totalSlots, namespaceSlots = 6, 4

// watchSlots looks at the audit Pods until stop is called, which returns the most
// that there were at a time: in all, and of one namespace.
func watchSlots(ctx context.Context) (stop func() (total, ofNamespace int)) {
	GinkgoHelper()
	watching, cancel := context.WithCancel(ctx)
	watcher, err := k8s.Watch(watching, &corev1.PodList{}, client.InNamespace(runNamespace))
	Expect(err).NotTo(HaveOccurred())
	type most struct{ total, ofNamespace int }
	done := make(chan most, 1)
	go func() {
		var seen most
		live := map[string]string{} // audit Pods, and the namespace of their audit
		for event := range watcher.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				continue
			}
			live[pod.Name] = pod.Labels["mcpaudit.dev/audit-namespace"]
			if event.Type == "DELETED" {
				delete(live, pod.Name)
			}
			count := map[string]int{}
			for _, of := range live {
				count[of]++
				seen.ofNamespace = max(seen.ofNamespace, count[of])
			}
			seen.total = max(seen.total, len(live))
		}
		done <- seen
	}()
	return func() (int, int) {
		watcher.Stop()
		cancel()
		seen := <-done
		return seen.total, seen.ofNamespace
	}
}

var _ = Describe("Many audits at once", Serial, func() {
	It("never have more Pods than there are slots, and all get their turn", func(ctx context.Context) {
		var namespaces []string
		for range 2 {
			other := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
			Expect(k8s.Create(ctx, other)).To(Succeed())
			DeferCleanup(func(ctx context.Context) { Expect(k8s.Delete(ctx, other)).To(Succeed()) })
			namespaces = append(namespaces, other.Name)
		}
		namespaces = append(namespaces, namespace)
		stop := watchSlots(ctx)
		var audits []*v1alpha1.MCPServerAudit
		for i := range 20 {
			audit := newAudit("honest-go:dev", func(a *v1alpha1.MCPServerAudit) {
				a.GenerateName, a.Name, a.Namespace = "", fmt.Sprintf("audit-%d", i), namespaces[i%len(namespaces)]
			})
			Expect(k8s.Create(ctx, audit)).To(Succeed())
			audits = append(audits, audit)
		}
		for _, audit := range audits {
			awaitVerdict(ctx, audit)
			expectPass(audit)
			Expect(audit.Status.History).To(HaveLen(1), "it was audited more than once")
		}
		total, ofNamespace := stop()
		Expect(total).To(Equal(totalSlots), "the slots were exceeded, or not used")
		Expect(ofNamespace).To(BeNumerically("<=", namespaceSlots))
	})
})
