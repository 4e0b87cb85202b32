//go:build envtest

package audit_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

const runNamespace = "mcpaudit-runs"

var (
	api    client.Client
	config *rest.Config
)

func TestAudit(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "MCPServerAudit controller")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	environment, live, err := testenv.Start()
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(environment.Stop)
	api, config = live, environment.Config
	Expect(api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: runNamespace}})).To(Succeed())
})
