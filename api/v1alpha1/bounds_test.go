package v1alpha1_test

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/test/crds"
)

type schema = apiextensionsv1.JSONSchemaProps

// TestS5EveryFieldIsBounded: whoever may create an object chooses its texts.
func TestS5EveryFieldIsBounded(t *testing.T) {
	for kind := range crds.All(t) {
		for _, part := range []string{"spec", "status"} {
			checkBounds(t, crds.Schema(t, kind, part), kind+": "+part)
		}
	}
}

// unbounded are the fields of any form, which the policy mcpaudit-size bounds.
var unbounded = map[string]bool{"MCPServerAudit: spec.probe.inputs[].arguments": true}

func checkBounds(t *testing.T, s schema, path string) {
	t.Helper()
	isText := s.Type == "string" && s.Enum == nil && s.Format != "date-time"
	switch {
	case s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields && !unbounded[path]:
		t.Errorf("%s takes anything", path)
	case (isText || s.XIntOrString) && s.MaxLength == nil:
		t.Errorf("%s has no maxLength", path)
	case s.Type == "array" && (s.MaxItems == nil || s.Items == nil):
		t.Errorf("%s has no maxItems", path)
	case s.AdditionalProperties != nil && s.MaxProperties == nil:
		t.Errorf("%s has no maxProperties", path)
	}
	if s.Items != nil {
		checkBounds(t, *s.Items.Schema, path+"[]")
	}
	if s.AdditionalProperties != nil {
		checkBounds(t, *s.AdditionalProperties.Schema, path+"{}")
	}
	for name, property := range s.Properties {
		checkBounds(t, property, path+"."+name)
	}
}

// TestAB3ColumnsShowWhatTheyHave: who may create an audit has the administrator's terminal show nothing else by "kubectl
// get", which escapes two control characters, and no change of direction.
func TestAB3ColumnsShowWhatTheyHave(t *testing.T) {
	columns := 0
	for _, column := range crds.All(t)["MCPServerAudit"].Spec.Versions[0].AdditionalPrinterColumns {
		path, ofSpec := strings.CutPrefix(column.JSONPath, ".spec.")
		if !ofSpec {
			continue
		}
		columns++
		s := crds.Schema(t, "MCPServerAudit", "spec")
		for name := range strings.SplitSeq(path, ".") {
			s = s.Properties[name]
		}
		shown := regexp.MustCompile(s.Pattern)
		for _, hostile := range []string{"\x1b[2J", "\u009b2J", "\u202e", "\u200b", "\u2800", "\r", "\n", "\u00a0"} {
			if text := "https://registry.example/a" + hostile + "b"; shown.MatchString(text) {
				t.Errorf("%s takes %q", path, text)
			}
		}
		if honest := "https://registry.example:5000/a/b_c.d:1.2-3@sha256:0f?x=y%20z&a=[b]"; !shown.MatchString(honest) {
			t.Errorf("%s does not take %q", path, honest)
		}
	}
	if columns == 0 {
		t.Error("no column has a field of the spec")
	}
}

// TestCapsFitTheSchema: what api/report has capped is not refused, and no text or list of
// a report that the schema bounds is without a cap, but for words and digests.
func TestCapsFitTheSchema(t *testing.T) {
	capsFit(t, reflect.TypeFor[report.Report](), crds.Schema(t, "MCPAuditReport", "spec"), "spec")
}

func capsFit(t *testing.T, of reflect.Type, s schema, path string) {
	t.Helper()
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		if of = of.Elem(); s.Items != nil {
			s = *s.Items.Schema
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
			if text := below.Items.Schema.MaxLength; text != nil {
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
func fits(t *testing.T, path, most string, bound int64) {
	t.Helper()
	if n, err := strconv.ParseInt(most, 10, 64); (err != nil || n > bound) && !uncapped.MatchString(path) {
		t.Errorf("%s has the cap %q, and the schema takes %d", path, most, bound)
	}
}
