//go:build envtest

package drift_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

func TestDriftController(t *testing.T) { testenv.RunSpecs(t, "Drift controller") }

var _ = BeforeSuite(func(ctx SpecContext) { api, config = testenv.Begin(ctx) })
