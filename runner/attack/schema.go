package attack

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// schema holds the used keywords of a JSON Schema.
type schema struct {
	root  *schema
	depth int
	// mixed: it is one of several alternatives.
	mixed bool

	Ref         string                     `json:"$ref"`
	Type        any                        `json:"type"`
	Enum        []json.RawMessage          `json:"enum"`
	Properties  map[string]json.RawMessage `json:"properties"`
	Items       json.RawMessage            `json:"items"`
	AnyOf       []json.RawMessage          `json:"anyOf"`
	OneOf       []json.RawMessage          `json:"oneOf"`
	Defs        map[string]json.RawMessage `json:"$defs"`
	Definitions map[string]json.RawMessage `json:"definitions"`
	Description string                     `json:"description"`
	Examples    []any                      `json:"examples"`
	Default     any                        `json:"default"`
	Extra       json.RawMessage            `json:"additionalProperties"`
}

const maxSchemaDepth = 8 // of references and alternatives

func schemaOf(raw json.RawMessage) *schema {
	s := &schema{}
	_ = json.Unmarshal(raw, s) // what is no schema declares nothing
	s.root = s
	return s
}

// of reads a schema within s: the target of a reference, and of alternatives the
// first that is not only null.
func (s *schema) of(raw json.RawMessage) *schema {
	inner := &schema{}
	_ = json.Unmarshal(raw, inner) // as above
	inner.root, inner.depth = s.root, s.depth+1
	if inner.depth > maxSchemaDepth {
		return inner
	}
	if name, ok := strings.CutPrefix(inner.Ref, "#/$defs/"); ok {
		return inner.of(s.root.Defs[name])
	}
	if name, ok := strings.CutPrefix(inner.Ref, "#/definitions/"); ok {
		return inner.of(s.root.Definitions[name])
	}
	for _, alternative := range slices.Concat(inner.AnyOf, inner.OneOf) {
		if one := inner.of(alternative); inner.Type == nil && !slices.Equal(one.types(), []string{"null"}) {
			one.mixed = len(inner.AnyOf)+len(inner.OneOf) > 2 || one.mixed
			return one
		}
	}
	return inner
}

// at returns the schema of a field; an empty one where nothing is declared.
func (s *schema) at(steps []any) *schema {
	for _, step := range steps {
		if name, isKey := step.(string); isKey {
			s = s.of(s.Properties[name])
		} else {
			s = s.of(s.Items)
		}
	}
	return s
}

// types returns the declared types.
func (s *schema) types() (names []string) {
	switch declared := s.Type.(type) {
	case string:
		return []string{declared}
	case []any:
		for _, each := range declared {
			if name, isText := each.(string); isText {
				names = append(names, name)
			}
		}
	}
	return names
}

func (s *schema) has(types ...string) bool {
	return slices.ContainsFunc(s.types(), func(name string) bool { return slices.Contains(types, name) })
}

// free reports whether any text fits.
func (s *schema) free() bool {
	return len(s.Enum) == 0 && (len(s.types()) == 0 || s.has("string"))
}

// onlyText reports whether only texts fit.
func (s *schema) onlyText() bool { return slices.Equal(s.types(), []string{"string"}) && !s.mixed }

// lacking visits the fields for texts and numbers that an honest call leaves out.
func (s *schema) lacking(honest map[string]any, do func(field)) { s.lackingBelow(honest, "", nil, do) }

func (s *schema) lackingBelow(honest any, name string, steps []any, do func(field)) {
	if len(steps) > maxDepth {
		return
	}
	given, _ := honest.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		value, declared := given[key], s.of(s.Properties[key])
		steps, name := append(slices.Clone(steps), key), below(name, key)
		switch {
		case declared.has("object"):
			declared.lackingBelow(value, name, steps, do)
			if key := below(name, freeKey); len(declared.Properties) == 0 && !bytes.Equal(declared.Extra, []byte("false")) {
				do(field{name: key, steps: append(steps, freeKey), text: true, free: true, lacking: true})
			}
		case declared.has("array"):
			if list, _ := value.([]any); len(list) > 0 && list[0] != nil {
				continue
			}
			if items := declared.of(declared.Items); !items.has("object", "array") {
				declared.elements(name, steps, items, do)
			}
		case value == nil && declared.has("string", "number", "integer"):
			do(declared.leaf(name, steps))
		}
	}
}

// leaf returns a field that the honest call leaves out, with an example.
func (s *schema) leaf(name string, steps []any) field {
	f := field{name: name, steps: steps, text: s.free(), number: s.has("number", "integer"), lacking: true}
	if examples := s.examples(); f.text && len(examples) > 0 && !forURL.MatchString(name) && !forHost.MatchString(name) {
		f.value = examples[0]
	}
	if f = f.of(s); f.choice {
		_ = json.Unmarshal(s.Enum[0], &f.value) // what is no text is left out
	}
	return f
}
