//go:build envtest

package admission_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

func TestAdmission(t *testing.T) { testenv.RunSpecs(t, "The webhook of the gate") }

var _ = BeforeSuite(func(ctx SpecContext) {
	api, config = testenv.Begin(ctx)
	startGate(ctx)
})
