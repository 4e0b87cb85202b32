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
)

// full is a list of a mebibyte, as far as a ConfigMap takes it.
func full(n int) map[string]string {
	list := map[string]string{"policy": "cluster policy default"}
	for i := range 4500 {
		digest := v1alpha1.CommandDigest([]string{fmt.Sprint(n, i)}, nil)
		list[strings.Replace(string(digest), ":", "-", 1)] = line("*", "*", "deny")[:120]
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
	It("judges 1,000 containers by full lists of 50,000 digests", func(ctx SpecContext) {
		free := gated(ctx)
		namespace := gated(ctx)
		GinkgoWriter.Printf("without a list: 1 container %s, 1,000 containers %s\n", median(ctx, runs(free, honest)), median(ctx, huge(free, 1000)))
		var lists []map[string]string
		for n := range 11 {
			lists = append(lists, full(n))
		}
		lists[10][leakyKey] = line("*", "*", "deny")
		bind(ctx, "mcpaudit-denied", namespace, lists...)
		GinkgoWriter.Printf("11 full lists: 1 container %s, 1,000 containers %s\n", median(ctx, runs(namespace, honest)), median(ctx, huge(namespace, 1000)))
		object := huge(namespace, 1000)
		object.Spec.Containers[999].Image = leaky
		Expect(try(ctx, object)).To(forbidden("leaky"))
		small := gated(ctx)
		bind(ctx, "mcpaudit-denied", small, lists[10])
		GinkgoWriter.Printf("1 full list: 1 container %s, 1,000 containers %s\n", median(ctx, runs(small, honest)), median(ctx, huge(small, 1000)))
	})

	It("judges what it can of 1,000 containers that are on an allow list", func(ctx SpecContext) {
		namespace := gated(ctx)
		list := map[string]string{}
		for i := range 1000 {
			list[fmt.Sprintf("sha256-%064d", i)] = line("", "--one --two ", "pass")
		}
		bind(ctx, "mcpaudit-passed", namespace, list)
		Expect(try(ctx, huge(namespace, 1000))).To(Succeed())
		object := huge(namespace, 1000)
		object.Spec.Containers[999].Args = nil
		Expect(try(ctx, object)).To(forbidden("c999"))
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
			list[fmt.Sprintf("sha256-%064d", i)] = line("*", "*", "deny")
		}
		bind(ctx, "mcpaudit-denied", namespace, list)
		object.ObjectMeta = metav1.ObjectMeta{Namespace: namespace, Name: "huge", ResourceVersion: object.ResourceVersion, Labels: map[string]string{"a": "b"}}
		Expect(api.Update(ctx, object)).To(Succeed())
	})
})
