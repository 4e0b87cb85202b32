package options

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestDocumented: the reference of the file has every key.
func TestDocumented(t *testing.T) {
	reference, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys(reflect.TypeFor[file](), "") {
		if !strings.Contains(string(reference), "\n| `"+key+"` |") {
			t.Errorf("docs/configuration.md has no row for %s", key)
		}
	}
}

// keys returns the keys of a struct, with dots between the levels. Below a template there
// are those of a Pod.
func keys(of reflect.Type, prefix string) []string {
	var all []string
	for i := range of.NumField() {
		field := of.Field(i)
		key := prefix + strings.Split(field.Tag.Get("json"), ",")[0]
		switch inner := field.Type; {
		case inner.Kind() == reflect.Struct && !strings.HasPrefix(prefix, "podTemplate"):
			all = append(all, keys(inner, key+".")...)
		case inner.Kind() == reflect.Pointer && inner.Elem().Kind() == reflect.Struct:
			all = append(all, keys(inner.Elem(), key+".")...)
		default:
			all = append(all, key)
		}
	}
	return all
}
