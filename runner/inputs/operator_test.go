package inputs

import (
	"strings"
	"testing"
)

// TestOperators: documents that update others have operators, and no other object has.
func TestOperators(t *testing.T) {
	for schema, want := range map[string]string{
		`{"update": {"type": "object", "description": "Update operations to apply ($set, $unset, $inc, etc.)"}}`:                                              `{"update":{"$set":{"note":`,
		`{"update": {"type": "object", "additionalProperties": {}, "properties": {}, "description": "The modifications, using update operator expressions"}}`: `{"update":{"$set":{"note":`,
		`{"pipeline": {"type": "array", "minItems": 1, "items": {"type": "object"}}}`:                                                                         `{"pipeline":[{"$match":{}}`,
		`{"updates": {"type": "object", "description": "The fields to change", "minProperties": 1}}`:                                                          `{"updates":{"note":`,
		`{"update": {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1, "description": "Values by name, such as $HOME"}}`:      `{"update":{"note":`,
		`{"price": {"type": "object", "description": "Given in $us", "minProperties": 1}}`:                                                                    `{"price":{"note":`,
	} {
		name := schema[2 : 2+strings.IndexByte(schema[2:], '"')]
		whole := `{"type": "object", "properties": ` + schema + `, "required": ["` + name + `"]}`
		got := string(Arguments([]byte(whole), Options{All: true}, Mark{}))
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", schema, got)
		}
	}
}
