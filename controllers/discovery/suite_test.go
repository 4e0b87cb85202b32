//go:build envtest

package discovery_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

func TestDiscovery(t *testing.T) { testenv.RunSpecs(t, "ClusterMCPAuditPolicy controller") }

var _ = BeforeSuite(func(ctx SpecContext) { api, _ = testenv.Begin(ctx) })
