//go:build envtest

// Package testenv starts the API server that the envtest suites run against.
package testenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// errNoAssets explains how to run the suites.
var errNoAssets = errors.New("KUBEBUILDER_ASSETS is not set: run `make test-envtest`")

// Start starts etcd and an API server with the project's CRDs. The caller stops the
// environment.
func Start() (*envtest.Environment, client.Client, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, nil, errNoAssets
	}
	if err := v1alpha1.AddToScheme(scheme.Scheme); err != nil {
		return nil, nil, fmt.Errorf("register kinds: %w", err)
	}
	environment := &envtest.Environment{
		CRDDirectoryPaths:     []string{configPath("crd/bases")},
		ErrorIfCRDPathMissing: true,
	}
	config, err := environment.Start()
	if err != nil {
		return nil, nil, fmt.Errorf("start API server: %w", err)
	}
	live, err := client.New(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("create client: %w", err), environment.Stop())
	}
	return environment, live, nil
}

// configPath returns a path below config/.
func configPath(path string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "config", path)
}
