//go:build envtest

// Package testenv starts the API server that the envtest suites run against.
package testenv

import (
	"path/filepath"
	"runtime"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcpaudit/mcpaudit/test/controlplane"
)

// Start starts etcd and an API server with the project's CRDs, which stop with the test.
func Start(t testing.TB) *controlplane.Cluster {
	t.Helper()
	cluster, err := controlplane.Start(&envtest.Environment{CRDDirectoryPaths: []string{configPath("crd/bases")}, ErrorIfCRDPathMissing: true})
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

// configPath returns a path below config/.
func configPath(path string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "config", path)
}
