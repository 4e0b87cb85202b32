package options_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/controllers/options"
)

// TestUngatedNamespaces holds what the API server leaves out of the gate to what the
// operator does.
func TestUngatedNamespaces(t *testing.T) {
	for _, file := range []string{"webhook/configuration.yaml", "policy/lookup/policy.yaml"} {
		text, err := os.ReadFile("../../config/" + file)
		if err != nil {
			t.Fatal(err)
		}
		lists := 0
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			var object any
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, values := range excluded(object) {
				lists++
				if !slices.Equal(values, options.UngatedNamespaces()) {
					t.Errorf("%s leaves out %q, the operator %q", file, values, options.UngatedNamespaces())
				}
			}
		}
		if lists == 0 {
			t.Errorf("%s leaves out no namespaces", file)
		}
	}
}

// excluded finds the names that selectors exclude by the label of a namespace's name.
func excluded(value any) [][]string {
	var all [][]string
	switch v := value.(type) {
	case map[string]any:
		if v["key"] == "kubernetes.io/metadata.name" && v["operator"] == "NotIn" {
			var names []string
			for _, name := range v["values"].([]any) {
				names = append(names, fmt.Sprint(name))
			}
			return [][]string{names}
		}
		for _, inner := range v {
			all = append(all, excluded(inner)...)
		}
	case []any:
		for _, inner := range v {
			all = append(all, excluded(inner)...)
		}
	}
	return all
}
