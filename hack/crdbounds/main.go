// Command crdbounds adds bounds to every text, list and map of generated CRD schemas that lacks
// them, which are those in Kubernetes' own types, such as affinity. Usage: crdbounds FILE...
package main

import (
	"bytes"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

// The bounds. With nested lists the total remains large: the policy mcpaudit-size bounds it.
const (
	maxText     = 512 // label names and values are shorter
	maxQuantity = 32
	maxItems    = 32
)

func main() {
	for _, path := range os.Args[1:] {
		if err := complete(path); err != nil {
			fmt.Fprintln(os.Stderr, "crdbounds:", err)
			os.Exit(1)
		}
	}
}

func complete(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(content, &crd); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	versions, _ := crd["spec"].(map[string]any)["versions"].([]any)
	for _, version := range versions {
		schema := version.(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		properties := schema["properties"].(map[string]any)
		for _, part := range []string{"spec", "status"} {
			if node, ok := properties[part].(map[string]any); ok {
				bound(node)
			}
		}
	}
	encoded, err := yaml.Marshal(crd)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if bytes.HasPrefix(content, []byte("---\n")) {
		encoded = append([]byte("---\n"), encoded...)
	}
	return os.WriteFile(path, encoded, 0o644)
}

// bound adds missing bounds to a schema and its subschemas.
func bound(schema map[string]any) {
	set := func(key string, most int) {
		if schema[key] == nil {
			schema[key] = most
		}
	}
	values, isMap := schema["additionalProperties"].(map[string]any)
	switch {
	case schema["x-kubernetes-int-or-string"] == true:
		set("maxLength", maxQuantity)
	case schema["type"] == "string" && schema["enum"] == nil && schema["format"] == nil:
		set("maxLength", maxText)
	case schema["type"] == "array":
		set("maxItems", maxItems)
		bound(schema["items"].(map[string]any))
	case isMap:
		set("maxProperties", maxItems)
		bound(values)
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, property := range properties {
		bound(property.(map[string]any))
	}
}
