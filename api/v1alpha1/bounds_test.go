package v1alpha1_test

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestS5EveryFieldIsBounded: whoever may create an object chooses its texts.
func TestS5EveryFieldIsBounded(t *testing.T) {
	paths, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no CRDs", err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var crd struct {
			Spec struct {
				Versions []struct {
					Schema struct {
						OpenAPIV3Schema schema `json:"openAPIV3Schema"`
					} `json:"schema"`
				} `json:"versions"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal(content, &crd); err != nil {
			t.Fatal(err)
		}
		for _, version := range crd.Spec.Versions {
			for _, part := range []string{"spec", "status"} {
				version.Schema.OpenAPIV3Schema.Properties[part].check(t, filepath.Base(path)+": "+part)
			}
		}
	}
}

// unbounded are the fields of any form, which the policy mcpaudit-size bounds.
var unbounded = map[string]bool{"mcpaudit.dev_mcpserveraudits.yaml: spec.probe.inputs[].arguments": true}

// schema has what bounds a value.
type schema struct {
	Type                 string            `json:"type"`
	Format               string            `json:"format"`
	Enum                 []any             `json:"enum"`
	MaxLength            *int              `json:"maxLength"`
	MaxItems             *int              `json:"maxItems"`
	MaxProperties        *int              `json:"maxProperties"`
	Items                *schema           `json:"items"`
	Properties           map[string]schema `json:"properties"`
	AdditionalProperties *schema           `json:"additionalProperties"`
	PreserveUnknown      bool              `json:"x-kubernetes-preserve-unknown-fields"`
	IntOrString          bool              `json:"x-kubernetes-int-or-string"`
}

func (s schema) check(t *testing.T, path string) {
	t.Helper()
	isText := s.Type == "string" && s.Enum == nil && s.Format != "date-time"
	switch {
	case s.PreserveUnknown && !unbounded[path]:
		t.Errorf("%s takes anything", path)
	case (isText || s.IntOrString) && s.MaxLength == nil:
		t.Errorf("%s has no maxLength", path)
	case s.Type == "array" && (s.MaxItems == nil || s.Items == nil):
		t.Errorf("%s has no maxItems", path)
	case s.AdditionalProperties != nil && s.MaxProperties == nil:
		t.Errorf("%s has no maxProperties", path)
	}
	if s.Items != nil {
		s.Items.check(t, path+"[]")
	}
	if s.AdditionalProperties != nil {
		s.AdditionalProperties.check(t, path+"{}")
	}
	for name, property := range s.Properties {
		property.check(t, path+"."+name)
	}
}
