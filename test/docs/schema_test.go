package docs

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// compileSchemas reads the schemas of our kinds from the CRDs, and that of the chart's values. They are JSON schemas but
// for the extensions of Kubernetes; what those say, the API server checks in a dry run.
func compileSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "config", "crd", "bases", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	values, err := jsonschema.NewCompiler().Compile(filepath.Join(root, "charts", "mcp-audit-operator", "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*jsonschema.Schema{"values": values}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd struct {
			Spec struct {
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema"`
					}
				}
			}
		}
		if err := yaml.Unmarshal(content, &crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, version := range crd.Spec.Versions {
			schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(version.Schema.OpenAPIV3Schema))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			compiler := jsonschema.NewCompiler()
			if err := compiler.AddResource("crd.json", anyScalar(schema)); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if all[crd.Spec.Names.Kind], err = compiler.Compile("crd.json"); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		}
	}
	return all
}

// anyScalar lets what may be a number or a string be either.
func anyScalar(schema any) any {
	switch schema := schema.(type) {
	case map[string]any:
		for key, value := range schema {
			schema[key] = anyScalar(value)
		}
		if schema["x-kubernetes-int-or-string"] == true {
			delete(schema, "type")
		}
	case []any:
		for i, value := range schema {
			schema[i] = anyScalar(value)
		}
	}
	return schema
}
