//go:build envtest

package drift_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

// Documents of YAML in files, and the blocks of YAML in Markdown.
var (
	separator = regexp.MustCompile(`(?m)^---\n`)
	block     = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")
)

// written are the objects of our kinds that people are shown: the samples, and what the
// documentation has in full.
func written() map[string]*unstructured.Unstructured {
	GinkgoHelper()
	found := map[string]*unstructured.Unstructured{}
	read := func(file, text string) {
		for _, document := range separator.Split(text, -1) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil || object.GetAPIVersion() != v1alpha1.GroupVersion.String() || object.GetName() == "" {
				continue // a part of an object, which stands for itself in the text
			}
			found[file+": "+object.GetKind()+" "+object.GetName()] = object
		}
	}
	for _, pattern := range []string{"config/samples/*.yaml", "README.md", "docs/*.md", "docs/spec/*.md"} {
		files, err := filepath.Glob(filepath.Join("..", "..", pattern))
		Expect(err).NotTo(HaveOccurred())
		for _, file := range files {
			content, err := os.ReadFile(file)
			Expect(err).NotTo(HaveOccurred())
			if filepath.Ext(file) == ".yaml" {
				read(file, string(content))
				continue
			}
			for _, match := range block.FindAllStringSubmatch(string(content), -1) {
				read(file, match[1])
			}
		}
	}
	return found
}

// apply applies an object as a GitOps tool does, and returns its version then.
func apply(ctx context.Context, object *unstructured.Unstructured) string {
	GinkgoHelper()
	object = object.DeepCopy()
	Expect(api.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("deployer"), client.ForceOwnership)).To(Succeed())
	return object.GetResourceVersion()
}

var _ = Describe("What people are shown", Ordered, func() {
	var stop func()
	BeforeAll(func() { _, stop = startManager(context.Background()) })
	AfterAll(func() { stop() })

	It("can be applied again and again without a difference, whatever the status says by then", func(ctx SpecContext) {
		all, kinds := written(), map[string]bool{}
		observed := []string{"ClusterMCPAuditPolicy", "MCPAuditPolicy", "MCPAuditException"} // by the controllers of this suite
		for _, object := range all {
			if object.GetNamespace() == "" && object.GetKind()[:7] != "Cluster" {
				object.SetNamespace(metav1.NamespaceDefault)
			}
			if name := object.GetNamespace(); name != "" {
				if err := api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); !apierrors.IsAlreadyExists(err) {
					Expect(err).NotTo(HaveOccurred())
				}
			}
		}
		for name, object := range all {
			kinds[object.GetKind()] = true
			apply(ctx, object)
			settledVersion := func(g Gomega) string {
				have := &unstructured.Unstructured{}
				have.SetGroupVersionKind(object.GroupVersionKind())
				g.Expect(api.Get(ctx, client.ObjectKeyFromObject(object), have)).To(Succeed())
				if slices.Contains(observed, object.GetKind()) {
					generation, _, _ := unstructured.NestedInt64(have.Object, "status", "observedGeneration")
					g.Expect(generation).To(Equal(have.GetGeneration()), name)
				}
				return have.GetResourceVersion()
			}
			testenv.Eventually(ctx, func(g Gomega) {
				before := settledVersion(g)
				g.Expect(apply(ctx, object)).To(Equal(before), name)
			})
			Expect(api.Delete(ctx, object)).To(Succeed())
		}
		Expect(kinds).To(HaveLen(4), "%v", kinds)
	})
})
