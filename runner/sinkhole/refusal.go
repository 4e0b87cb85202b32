package sinkhole

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// MaxRefusal bounds the bytes read of a refusal.
const MaxRefusal = 32 << 10

// The bounds of what is read from a refusal: bytes of a name, steps of a path, fields,
// nesting of issues, and bytes of a literal.
const (
	maxName     = 64
	maxSteps    = 8
	maxMissing  = 128
	maxNesting  = 4
	maxLiteral  = 256
	maxDocument = 4 // that are looked for in one text
)

// missingFields reads from a tool's error which fields it missed in an answer, or found
// to have another type. It knows the messages of runtimes and validation libraries, and
// none of any service.
func missingFields(refusal string) []field {
	refusal = refusal[:min(len(refusal), MaxRefusal)]
	for _, read := range []func(string) []field{issuesIn, treeIn, worded} {
		found := read(refusal)
		if len(found) == 0 && strings.Contains(refusal, `\"`) {
			found = read(unescape.Replace(refusal)) // an error as a string in JSON
		}
		if len(found) > 0 {
			return found[:min(len(found), maxMissing)]
		}
	}
	return nil
}

var unescape = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")

// issue is an issue of Zod (versions 3 and 4) or an error of Pydantic's errors().
type issue struct {
	Path       []any           `json:"path"`
	Loc        []any           `json:"loc"`
	Code       string          `json:"code"`
	Type       string          `json:"type"`
	Expected   json.RawMessage `json:"expected"`
	Options    []any           `json:"options"`
	Values     []any           `json:"values"`
	Validation any             `json:"validation"`
	Format     string          `json:"format"`
	Unions     []struct {
		Issues []issue `json:"issues"`
	} `json:"unionErrors"`
	Errors [][]issue `json:"errors"`
}

// issuesIn finds a list of issues in a text.
func issuesIn(text string) []field {
	for range maxDocument {
		start := strings.Index(text, "[")
		if start < 0 {
			return nil
		}
		text = text[start:]
		if found := fieldsOf(issuesOf(text), nil, maxNesting); len(found) > 0 {
			return found
		}
		text = text[1:]
	}
	return nil
}

// issuesOf decodes the list at the start of a text, which may break off.
func issuesOf(text string) (issues []issue) {
	list := json.NewDecoder(strings.NewReader(text))
	if _, err := list.Token(); err != nil {
		return nil
	}
	for list.More() && len(issues) < maxMissing {
		var i issue
		if list.Decode(&i) != nil {
			break
		}
		issues = append(issues, i)
	}
	return issues
}

// fieldsOf returns the fields that issues below a place are about.
func fieldsOf(issues []issue, at []any, depth int) (found []field) {
	for _, i := range issues {
		place := append(slices.Clone(at), append(i.Path, i.Loc...)...)
		if alternative := i.alternative(); alternative != nil && depth > 0 {
			// Zod 3 gives whole paths, Zod 4 paths from the union on.
			if i.Errors == nil {
				place = at
			}
			found = append(found, fieldsOf(alternative, place, depth-1)...)
			continue
		}
		if f, ok := i.field(place); ok {
			found = append(found, f)
		}
		if len(found) >= maxMissing {
			break
		}
	}
	return found
}

// alternative returns the branch of a union with the fewest issues.
func (i issue) alternative() (least []issue) {
	all := i.Errors
	for _, u := range i.Unions {
		all = append(all, u.Issues)
	}
	for _, issues := range all {
		if len(issues) > 0 && (least == nil || len(issues) < len(least)) {
			least = issues
		}
	}
	return least
}

// field returns the field that an issue at a place is about.
func (i issue) field(place []any) (field, bool) {
	f, ok := at(place)
	if !ok || i.Code == "" && i.Type == "" || i.Code == "unrecognized_keys" {
		return field{}, false
	}
	f.kind, f.literal = i.expected()
	return f, len(f.literal) <= maxLiteral && (f.kind != "" || f.literal != "" || f.path != "")
}

// expected returns the type, or the literal in JSON, that an issue expects.
func (i issue) expected() (kind, literal string) {
	var expected string
	isText := json.Unmarshal(i.Expected, &expected) == nil
	validation, _ := i.Validation.(string)
	switch options := append(i.Options, i.Values...); {
	case i.Code == "invalid_literal":
		return "", string(i.Expected)
	case len(options) > 0:
		text, _ := json.Marshal(options[0]) // it was JSON before
		return "", string(text)
	case isText && strings.HasPrefix(expected, "'"): // of an enumeration: 'a' | 'b'
		first, _, _ := strings.Cut(expected, "|")
		return "", quoted(strings.Trim(strings.TrimSpace(first), "'"))
	case i.Loc != nil:
		return checked[i.Type], ""
	case i.Code == "too_small" || i.Code == "too_big":
		return i.Type, ""
	default:
		return cmp.Or(expected, i.Format, validation), ""
	}
}

// tree is the output of z.treeifyError of Zod 4.
type tree struct {
	Errors     []string        `json:"errors"`
	Properties map[string]tree `json:"properties"`
	Items      []*tree         `json:"items"`
}

func treeIn(text string) (found []field) {
	start := strings.Index(text, `{"errors":`)
	if start < 0 {
		return nil
	}
	var root tree
	if json.NewDecoder(strings.NewReader(text[start:])).Decode(&root) != nil {
		return nil
	}
	root.each(nil, func(place []any, message string) {
		f, ok := at(place)
		expects := ofValue.FindStringSubmatch(message)
		if ok && expects != nil && len(found) < maxMissing {
			f.kind, f.literal = expected(expects[1])
			found = append(found, f)
		}
	})
	return found
}

// each calls do with each error and its place.
func (t tree) each(place []any, do func(place []any, message string)) {
	if len(place) > maxSteps {
		return
	}
	for _, message := range t.Errors {
		do(place, message)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Properties)) {
		t.Properties[name].each(append(slices.Clone(place), name), do)
	}
	for i, item := range t.Items {
		if item != nil {
			item.each(append(slices.Clone(place), float64(i)), do)
		}
	}
}

// ofValue matches Zod's message about one value.
var ofValue = lazyregexp.New(`\b[Ee]xpected ` + valueWord + `,? received`)

// at returns the field at the end of steps, which are strings and numbers.
func at(steps []any) (field, bool) {
	if len(steps) > maxSteps {
		return field{}, false
	}
	names := make([]string, 0, len(steps))
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			if !name.MatchString(s) {
				return field{}, false
			}
			names = append(names, s)
		case float64:
			names = append(names, anyElement)
		default:
			return field{}, false
		}
	}
	return field{path: strings.Join(names, ".")}, true
}

// name matches a step of a path.
var name = lazyregexp.New(fmt.Sprintf(`^[A-Za-z_$@][\w$@-]{0,%d}$`, maxName-1))

func quoted(text string) string {
	literal, _ := json.Marshal(text) // never fails for a string
	return string(literal)
}

// checked maps Pydantic's error types (pydantic-core) to the expected types.
var checked = map[string]string{
	"string_type": "string", "int_type": "integer", "int_parsing": "integer", "float_type": "number", "float_parsing": "number",
	"bool_type": "boolean", "bool_parsing": "boolean", "list_type": "array", "dict_type": "object", "model_type": "object",
	"model_attributes_type": "object", "datetime_type": "datetime", "datetime_parsing": "datetime", "datetime_from_date_parsing": "datetime",
	"url_parsing": "url", "url_type": "url", "uuid_parsing": "uuid", "uuid_type": "uuid",
}
