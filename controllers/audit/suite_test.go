//go:build envtest

package audit_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

const runNamespace = testenv.RunNamespace

var (
	api    client.Client
	config *rest.Config
)

func TestAudit(t *testing.T) { testenv.RunSpecs(t, "MCPServerAudit controller") }

var _ = BeforeSuite(func(ctx SpecContext) { api, config = testenv.Begin(ctx) })
