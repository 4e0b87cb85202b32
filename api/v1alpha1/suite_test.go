//go:build envtest

package v1alpha1_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

var api client.Client

func TestValidation(t *testing.T) { testenv.RunSpecs(t, "CRD validation") }

var _ = BeforeSuite(func(ctx SpecContext) { api, _ = testenv.Begin(ctx) })
