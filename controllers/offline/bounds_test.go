//go:build envtest

package offline_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/offline"
)

// full is a list of this many digests.
func full(n int) map[string]string {
	list := map[string]string{"policy": "cluster policy default"}
	for i := range n {
		list[string(v1alpha1.CommandDigest([]string{fmt.Sprint(i)}, nil))] = line("*", "*", "deny")
	}
	return list
}

// huge is a Pod of many containers.
func huge(namespace string, containers int) *corev1.Pod {
	object := pod(namespace)
	for i := range containers {
		object.Spec.Containers = append(object.Spec.Containers, corev1.Container{
			Name: fmt.Sprintf("c%d", i), Image: fmt.Sprintf("registry.example/team/image-%d@sha256:%064d", i, i), Args: []string{"--one", "--two"},
		})
	}
	return object
}

// median of some tries, for the report of the suite.
func median(ctx context.Context, object *corev1.Pod) time.Duration {
	var took []time.Duration
	for range 5 {
		start := time.Now()
		Expect(try(ctx, object)).To(Succeed())
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

var _ = Describe("Bounds", func() {
	It("judges 500 containers by full lists of 50,000 digests", func(ctx SpecContext) {
		free := gated(ctx)
		namespace := gated(ctx)
		GinkgoWriter.Printf("without a list: 1 container %s, 500 containers %s\n", median(ctx, runs(free, honest)), median(ctx, huge(free, 500)))
		list := full(50_000)
		list[leakyKey] = line("*", "*", "deny")
		bind(ctx, "mcpaudit-denied", namespace, list)
		GinkgoWriter.Printf("%d lists: 1 container %s, 500 containers %s\n", len(listed(list)), median(ctx, runs(namespace, honest)), median(ctx, huge(namespace, 500)))
		object := huge(namespace, 500)
		object.Spec.Containers[499].Image = leaky
		Expect(try(ctx, object)).To(forbidden("leaky"))

		By("images which are all in one part of the list, and take too long to find, are not admitted by that")
		for i, found := 0, 0; found < 499; i++ {
			if name := fmt.Sprintf("docker.io/library/notes:%d", i); offline.BucketOf(name) == offline.BucketOf(leakyKey) {
				object.Spec.Containers[found].Image = name
				found++
			}
		}
		Expect(try(ctx, object)).To(forbidden(""))
	})

	It("judges 500 containers that are on an allow list", func(ctx SpecContext) {
		namespace := gated(ctx)
		list := map[string]string{}
		for i := range 500 {
			list[fmt.Sprintf("sha256:%064d", i)] = line("", "--one --two ", "pass")
		}
		bind(ctx, "mcpaudit-passed", namespace, list)
		Expect(try(ctx, huge(namespace, 500))).To(Succeed())
		object := huge(namespace, 500)
		object.Spec.Containers[499].Args = nil
		Expect(try(ctx, object)).To(forbidden("c499"))
	})

	It("does not admit what is too large to be judged", func(ctx SpecContext) {
		namespace := gated(ctx)
		bind(ctx, "mcpaudit-denied", namespace, map[string]string{leakyKey: line("/server ", "", "deny")})
		object := huge(namespace, 200)
		for i := range object.Spec.Containers {
			object.Spec.Containers[i].Image, object.Spec.Containers[i].Args = leaky, []string{strings.Repeat("% ", 3000)}
		}
		Expect(try(ctx, object)).To(forbidden(""))
	})

	It("updates a large object whose images stay", func(ctx SpecContext) {
		namespace := gated(ctx)
		object := huge(namespace, 300)
		object.Namespace, object.Name, object.Labels = namespace, "huge", map[string]string{}
		Expect(api.Create(ctx, object)).To(Succeed())
		list := map[string]string{}
		for i := range 300 {
			list[fmt.Sprintf("sha256:%064d", i)] = line("*", "*", "deny")
		}
		bind(ctx, "mcpaudit-denied", namespace, list)
		object.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: "huge", ResourceVersion: object.ResourceVersion, Labels: map[string]string{"a": "b"}}
		Expect(api.Update(ctx, object)).To(Succeed())
	})
})
