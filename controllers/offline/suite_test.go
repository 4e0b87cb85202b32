//go:build envtest

package offline_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

func TestOffline(t *testing.T) { testenv.RunSpecs(t, "What the API server enforces by itself") }

var _ = BeforeSuite(func(ctx SpecContext) {
	api, config = testenv.Begin(ctx, "policy")
	bindAdmins(ctx)
})
