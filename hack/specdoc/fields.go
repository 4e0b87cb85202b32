package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schema is the documented part of a structural schema.
// https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/#JSONSchemaProps
type schema struct {
	Type                 string
	Format               string
	Description          string
	Default              any
	Enum                 []any
	Minimum, Maximum     *float64
	MinLength, MaxLength *int64
	MinItems, MaxItems   *int64
	MaxProperties        *int64
	Required             []string
	Properties           map[string]schema
	Items                *schema
	AdditionalProperties *schema
	IntOrString          bool `json:"x-kubernetes-int-or-string"`
	PreserveUnknown      bool `json:"x-kubernetes-preserve-unknown-fields"`
	Validations          []struct {
		Rule, Message string
	} `json:"x-kubernetes-validations"`
}

// foreign has Kubernetes' own types, whose fields are not listed, by the suffix of the field.
var foreign = []struct{ suffix, as string }{
	{"Selector", "a label selector: `matchLabels`, `matchExpressions`"},
	{"affinity", "as in a PodSpec"},
	{"tolerations", "as in a PodSpec"},
	{"topologySpreadConstraints", "as in a PodSpec"},
	{"conditions", "list of `metav1.Condition`: `type`, `status`, `reason`, `message`, `observedGeneration`, `lastTransitionTime`"},
}

func ofKubernetes(name string, s schema) (string, bool) {
	for _, f := range foreign {
		if strings.HasSuffix(name, f.suffix) && (len(s.Properties) > 0 || s.Items != nil) {
			return f.as, true
		}
	}
	return "", false
}

// table returns a row for each field below a part of the object, required fields first, then by
// name.
func table(part string, s schema) string {
	var text strings.Builder
	text.WriteString("| field | value | meaning |\n|---|---|---|\n")
	for _, v := range s.Validations {
		fmt.Fprintf(&text, "| `%s` | | Or refused: %s. |\n", part, plain(v.Message))
	}
	rows(&text, part, s)
	return text.String()
}

func rows(text *strings.Builder, path string, s schema) {
	names := slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		ra, rb := slices.Contains(s.Required, a), slices.Contains(s.Required, b)
		switch {
		case ra && !rb:
			return -1
		case rb && !ra:
			return 1
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		field, at := s.Properties[name], path+"."+name
		value, isForeign := ofKubernetes(name, field)
		if !isForeign {
			value = field.value()
		}
		if slices.Contains(s.Required, name) {
			value += "; required"
		}
		fmt.Fprintf(text, "| `%s` | %s | %s |\n", at, value, field.meaning())
		if isForeign {
			continue
		}
		for field.Items != nil {
			field, at = *field.Items, at+"[]"
		}
		rows(text, at, field)
	}
}

// meaning returns the comment of a field and its validation rules.
func (s schema) meaning() string {
	text := plain(s.Description)
	for at := &s; at != nil; at = at.Items {
		for _, v := range at.Validations {
			text += " Or refused: " + plain(v.Message) + "."
		}
	}
	return strings.TrimSpace(text)
}

// value returns the type of a field, its range and its default.
func (s schema) value() string {
	parts := []string{s.kind()}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		parts = append(parts, fmt.Sprintf("%g to %g", *s.Minimum, *s.Maximum))
	case s.Minimum != nil:
		parts = append(parts, fmt.Sprintf("%g and more", *s.Minimum))
	}
	parts = append(parts, span(s.MinLength, s.MaxLength, "characters"), span(s.MinItems, s.MaxItems, "entries"), span(nil, s.MaxProperties, "entries"))
	if s.Items != nil {
		parts = append(parts, span(s.Items.MinLength, s.Items.MaxLength, "characters each"))
	}
	if s.Default != nil && fmt.Sprint(s.Default) != "map[]" {
		parts = append(parts, "default `"+defaultOf(s.Default)+"`")
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// defaultOf formats a default; an object by its fields: "mode: TrustOnFirstUse".
func defaultOf(value any) string {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Sprint(value)
	}
	var fields []string
	for name, v := range object {
		fields = append(fields, fmt.Sprintf("%s: %v", name, v))
	}
	slices.Sort(fields)
	return strings.Join(fields, ", ")
}

func (s schema) kind() string {
	switch {
	case len(s.Enum) > 0:
		var words []string
		for _, word := range s.Enum {
			words = append(words, fmt.Sprintf("`%v`", word))
		}
		return strings.Join(words, ", ")
	case s.IntOrString:
		return "quantity"
	case s.Items != nil:
		return "list of " + s.Items.kind()
	case s.AdditionalProperties != nil:
		return "map to " + s.AdditionalProperties.kind()
	case s.Format == "date-time":
		return "time"
	}
	return s.Type
}

func span(least, most *int64, of string) string {
	switch {
	case most == nil:
		return ""
	case least == nil || *least == 0:
		return fmt.Sprintf("at most %d %s", *most, of)
	case *least == *most:
		return fmt.Sprintf("%d %s", *most, of)
	}
	return fmt.Sprintf("%d to %d %s", *least, *most, of)
}

// plain escapes a text for a Markdown table.
func plain(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("|", "\\|", "*", "\\*", "_", "\\_", "<", "&lt;", "`", "'").Replace(text)
}
