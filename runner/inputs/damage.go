package inputs

import (
	"encoding/json"
	"slices"
	"strings"
)

// damage makes fitting arguments slightly invalid; false if it finds nothing to change.
type damage func(f *Form, object map[string]any) bool

var damages = []damage{omit, mistype, exceed}

// damaged makes a call that a server should refuse, because its error often names valid values.
func (f *Form) damaged(pool *Pool, mark Mark) (Case, bool) {
	for len(f.invalid) > 0 {
		do := f.invalid[0]
		f.invalid = f.invalid[1:]
		d, ok := f.aimed(ShapeRequired, -1, pool, mark)
		if !ok || len(f.given) > 0 || f.template != nil {
			return Case{}, false
		}
		object := Decode([]byte(canonical(d.arguments))).(map[string]any)
		if !do(f, object) {
			continue
		}
		if found, _ := fits(f.root, Decode([]byte(canonical(object))), no); found == no {
			return Case{Arguments: json.RawMessage(canonical(object)), Shape: ShapeInvalid}, true
		}
	}
	return Case{}, false
}

// outermost returns the top-level fields of the first alternative.
func (f *Form) outermost() []field {
	n := f.tree
	for len(n.ways) > 0 && n.ways[0].node != nil {
		n = n.ways[0].node
	}
	return n.fields
}

// omit leaves out a required property.
func omit(f *Form, object map[string]any) bool {
	for _, field := range slices.Backward(f.outermost()) {
		if _, has := object[field.name]; has && field.required {
			delete(object, field.name)
			return true
		}
	}
	return false
}

// mistype gives a property a value of another type.
func mistype(f *Form, object map[string]any) bool {
	for _, field := range f.outermost() {
		if len(types(field.node.s["type"])) != 1 {
			continue
		}
		switch field.node.kind {
		case "string":
			object[field.name] = json.Number("7")
		case "integer", "number", "boolean", "array":
			object[field.name] = "seven"
		default:
			object[field.name] = []any{}
		}
		return true
	}
	return false
}

// exceed goes one beyond a bound, or outside an enum.
func exceed(f *Form, object map[string]any) bool {
	for _, field := range f.outermost() {
		if isPID(field.node) { // 0 and -1 stand for several processes
			continue
		}
		if value, ok := beyond(field.node); ok {
			object[field.name] = value
			return true
		}
	}
	return false
}

func beyond(n *node) (any, bool) {
	if _, ok := n.s["enum"].([]any); ok {
		return "unlisted", true
	}
	if most, ok := float(n.s["maximum"]); ok {
		return most + 1, true
	}
	if least, ok := float(n.s["minimum"]); ok {
		return least - 1, true
	}
	if most, ok := integer(n.s["maxLength"]); ok && most < maxLength {
		return strings.Repeat("x", most+1), true
	}
	if least, ok := integer(n.s["minLength"]); ok && least > 0 {
		return "", true
	}
	if least, ok := integer(n.s["minItems"]); ok && least > 0 {
		return []any{}, true
	}
	return nil, false
}
