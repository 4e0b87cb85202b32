package docs

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/mcpaudit/mcpaudit/test/crds"
)

// compileSchemas reads the schemas of our kinds from the CRDs, and that of the chart's values. They are JSON schemas but
// for the extensions of Kubernetes; what those say, the API server checks in a dry run.
func compileSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	values, err := jsonschema.NewCompiler().Compile(filepath.Join(root, "charts", "mcp-audit-operator", "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*jsonschema.Schema{"values": values}
	for kind, crd := range crds.All(t) {
		text, err := json.Marshal(crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
		if err != nil {
			t.Fatal(err)
		}
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("crd.json", anyScalar(schema)); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if all[kind], err = compiler.Compile("crd.json"); err != nil {
			t.Fatalf("%s: %v", kind, err)
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
