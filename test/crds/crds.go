// Package crds has the CRDs of config/crd for tests.
package crds

import (
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/test/tree"
)

// All returns the CRDs by kind. Each has one version.
func All(t testing.TB) map[string]apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(tree.Path("config/crd/bases/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	all := map[string]apiextensionsv1.CustomResourceDefinition{}
	for _, file := range files {
		var crd apiextensionsv1.CustomResourceDefinition
		content, err := os.ReadFile(file)
		if err == nil {
			err = yaml.Unmarshal(content, &crd)
		}
		if err != nil || len(crd.Spec.Versions) != 1 {
			t.Fatalf("%s has %d versions: %v", file, len(crd.Spec.Versions), err)
		}
		all[crd.Spec.Names.Kind] = crd
	}
	return all
}

// Schema returns the schema of a part of a kind, such as spec.
func Schema(t testing.TB, kind, part string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	crd, ok := All(t)[kind]
	if !ok {
		t.Fatalf("there is no CRD of %s", kind)
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[part]
}
