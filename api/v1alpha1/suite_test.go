//go:build envtest

package v1alpha1_test

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcpaudit/mcpaudit/controllers/testenv"
)

var api client.Client

func TestValidation(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "CRD validation")
}

var _ = BeforeSuite(func() {
	environment, live, err := testenv.Start()
	if err != nil {
		Fail(err.Error())
	}
	DeferCleanup(environment.Stop)
	api = live
})
