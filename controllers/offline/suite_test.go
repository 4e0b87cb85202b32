//go:build envtest

package offline_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

const (
	systemNamespace = "mcpaudit-system"
	managerUser     = "system:serviceaccount:mcpaudit-system:mcpaudit-manager"
)

var (
	api    client.Client
	config *rest.Config
)

func TestOffline(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "What the API server enforces by itself")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	environment, live, err := testenv.Start()
	if err != nil {
		Fail(err.Error())
	}
	DeferCleanup(environment.Stop)
	api, config = live, environment.Config
	for _, name := range []string{systemNamespace, "mcpaudit-runs"} {
		Expect(api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	}
	kubectl := filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl")
	for _, folder := range []string{"rbac", "policy"} {
		content, err := exec.CommandContext(ctx, kubectl, "kustomize", filepath.Join("..", "..", "config", folder)).Output()
		Expect(err).NotTo(HaveOccurred())
		create(ctx, string(content))
	}
	Expect(api.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: admins}, Subjects: []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: admins}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
	})).To(Succeed())
})

// create makes what a text of YAML says.
func create(ctx context.Context, text string) {
	GinkgoHelper()
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
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

// as is a client of somebody else.
func as(user string, groups ...string) client.Client {
	GinkgoHelper()
	other := rest.CopyConfig(config)
	other.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	c, err := client.New(other, client.Options{Scheme: api.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return c
}

func eventually(ctx context.Context, check func(Gomega)) {
	GinkgoHelper()
	Eventually(ctx, check).WithTimeout(30 * time.Second).WithPolling(50 * time.Millisecond).Should(Succeed())
}

// gated makes a namespace in the gate for one spec.
func gated(ctx context.Context) string {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "spec-", Labels: map[string]string{"mcpaudit.dev/gate": "enabled"}}}
	Expect(api.Create(ctx, namespace)).To(Succeed())
	return namespace.Name
}
