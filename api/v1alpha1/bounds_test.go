package v1alpha1_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestS5EveryFieldIsBounded: whoever may create an object chooses its texts.
func TestS5EveryFieldIsBounded(t *testing.T) {
	paths, err := filepath.Glob("../../config/crd/bases/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no CRDs", err)
	}
	for _, path := range paths {
		for part, schema := range schemasOf(t, path) {
			schema.check(t, filepath.Base(path)+": "+part)
		}
	}
}

// schemasOf returns the schemas of the spec and the status of a CRD of one version.
func schemasOf(t *testing.T, path string) map[string]schema {
	t.Helper()
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
	parts := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	return map[string]schema{"spec": parts["spec"], "status": parts["status"]}
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

// TestCapsFitTheSchema: what api/report has capped is not refused, and no text or list of
// a report that the schema bounds is without a cap, but for words and digests.
func TestCapsFitTheSchema(t *testing.T) {
	spec := schemasOf(t, "../../config/crd/bases/mcpaudit.dev_mcpauditreports.yaml")["spec"]
	capsFit(t, reflect.TypeFor[report.Report](), spec, "spec")
}

func capsFit(t *testing.T, of reflect.Type, s schema, path string) {
	t.Helper()
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		if of = of.Elem(); s.Items != nil {
			s = *s.Items
		}
	}
	if of.Kind() != reflect.Struct || of == reflect.TypeFor[report.Time]() {
		return
	}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		below, at := s.Properties[name], path+"."+name
		if name == "" { // inline
			below, at = s, path
		}
		most, each, _ := strings.Cut(field.Tag.Get("cap"), "x")
		if text := below.MaxLength; text != nil && (most != "" || *text != maxWord && *text != maxDigest) {
			fits(t, at, most, *text)
		}
		if below.MaxItems != nil {
			fits(t, at, most, *below.MaxItems)
			if text := below.Items.MaxLength; text != nil {
				fits(t, at+"[]", each, *text)
			}
		}
		capsFit(t, field.Type, below, at)
	}
}

// The bounds of words and digests, which need no cap: they are the engine's own.
const (
	maxWord   = 64
	maxDigest = 71
)

// uncapped are the other texts and lists that no server has a say in.
var uncapped = regexp.MustCompile(`^spec\.((runner|tracer)\.(name|version)|server\.environment\..*|findings\.rule|truncated.*)$`)

// fits compares a cap with the bound that the schema has.
func fits(t *testing.T, path, most string, bound int) {
	t.Helper()
	if n, err := strconv.Atoi(most); (err != nil || n > bound) && !uncapped.MatchString(path) {
		t.Errorf("%s has the cap %q, and the schema takes %d", path, most, bound)
	}
}
