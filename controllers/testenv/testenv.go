//go:build envtest

// Package testenv starts the API server that the envtest suites run against.
package testenv

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcpaudit/mcpaudit/test/controlplane"
	"github.com/mcpaudit/mcpaudit/test/tree"
)

// Start starts etcd and an API server with the project's CRDs, which stop with the test.
func Start(t testing.TB) *controlplane.Cluster {
	t.Helper()
	cluster, err := controlplane.Start(&envtest.Environment{CRDDirectoryPaths: []string{tree.Path("config/crd/bases")}, ErrorIfCRDPathMissing: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}
