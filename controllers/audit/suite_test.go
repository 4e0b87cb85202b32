//go:build envtest

package audit_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

const runNamespace = "mcpaudit-runs"

var (
	api    client.Client
	config *rest.Config
)

func TestAudit(t *testing.T) {
	RegisterFailHandler(Fail)
	log.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(GinkgoWriter, nil))) // shown where a spec fails
	RunSpecs(t, "MCPServerAudit controller")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	environment, live, err := testenv.Start()
	if err != nil {
		Fail(err.Error())
	}
	DeferCleanup(environment.Stop)
	api, config = live, environment.Config
	for _, name := range []string{runNamespace, "mcpaudit-system"} {
		Expect(api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	for _, file := range []string{"role.yaml", "role_bindings.yaml", "pull_secret_reader.yaml"} {
		apply(ctx, filepath.Join("..", "..", "config", "rbac", file))
	}
})

// apply creates what a file of the manifests holds.
func apply(ctx context.Context, path string) {
	GinkgoHelper()
	file, err := os.Open(path)
	Expect(err).NotTo(HaveOccurred())
	defer func() { _ = file.Close() }()
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return
		}
		Expect(err).NotTo(HaveOccurred())
		Expect(api.Create(ctx, object)).To(Succeed())
	}
}
