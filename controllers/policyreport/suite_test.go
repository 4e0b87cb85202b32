//go:build envtest

package policyreport_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

func TestPolicyReport(t *testing.T) { testenv.RunSpecs(t, "Policy reports") }

var _ = BeforeSuite(func(ctx SpecContext) { api, _ = testenv.Begin(ctx) })
