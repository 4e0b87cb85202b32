package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	crds  = "../../config/crd/bases"
	pages = "../../docs/spec"
)

// Every field of every kind is in its page, in words that are those of its CRD.
func TestPagesHaveEveryField(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(crds, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kind, s, err := read(data)
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(pages, strings.ToLower(kind)+".md"))
		if err != nil {
			t.Errorf("%s has no page: %v", kind, err)
			continue
		}
		for _, part := range []string{"spec", "status"} {
			if of, ok := s.Properties[part]; ok {
				named(t, string(page), kind, part, of)
			}
		}
	}
}

// named fails for a field that a page does not name. It walks the schema by itself, so
// that a row which table leaves out is missed here.
func named(t *testing.T, page, kind, path string, s schema) {
	t.Helper()
	for name, field := range s.Properties {
		at := path + "." + name
		if !strings.Contains(page, "\n| `"+at+"` |") {
			t.Errorf("the page of %s does not name %s: run make manifests", kind, at)
		}
		if _, isForeign := ofKubernetes(name, field); isForeign {
			continue
		}
		for field.Items != nil {
			field, at = *field.Items, at+"[]"
		}
		named(t, page, kind, at, field)
	}
}

// The pages are in the flux form.
func TestPagesHaveTheirParts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(pages, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rest := string(page)
		for _, part := range []string{"\n## Example\n", "\n## Writing a spec\n", "\n## Working with ", "\n## Status\n"} {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				t.Errorf("%s lacks %q, or has it too early", file, strings.TrimSpace(part))
				break
			}
			rest = after
		}
	}
}

func TestTable(t *testing.T) {
	one, two, cap64 := 1.0, 10.0, int64(64)
	s := schema{Required: []string{"name"}, Properties: map[string]schema{
		"rounds": {Type: "integer", Minimum: &one, Maximum: &two, Default: 3, Description: "rounds of\nthe | probe."},
		"name":   {Type: "string", MaxLength: &cap64},
		"mode":   {Enum: []any{"All", "Never"}, Default: "All"},
		"tools":  {Items: &schema{Properties: map[string]schema{"name": {Type: "string"}}}, MaxItems: &cap64},
	}}
	want := "| field | value | meaning |\n|---|---|---|\n" +
		"| `spec.name` | string, at most 64 characters; required |  |\n" +
		"| `spec.mode` | `All`, `Never`, default `All` |  |\n" +
		"| `spec.rounds` | integer, 1 to 10, default `3` | rounds of the \\| probe. |\n" +
		"| `spec.tools` | list of , at most 64 entries |  |\n" +
		"| `spec.tools[].name` | string |  |\n"
	if got := table("spec", s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestReplaceKeepsWhatPeopleWrote(t *testing.T) {
	page := "# Kind\n<!-- fields of spec: generated from the comments of api/v1alpha1 by make manifests -->\nold\n<!-- end of the fields -->\nby hand\n"
	got, err := replace(page, fieldsOf("spec"), "new\n")
	if err != nil || strings.Contains(got, "old") || !strings.HasPrefix(got, "# Kind\n") || !strings.HasSuffix(got, "\nby hand\n") {
		t.Errorf("%v: %s", err, got)
	}
	again, err := replace(got, fieldsOf("spec"), "new\n")
	if err != nil || again != got {
		t.Errorf("a second run changes the page: %v\n%s", err, again)
	}
	if _, err := replace("# Kind\n", fieldsOf("spec"), ""); err == nil {
		t.Error("a page without a place for the fields is accepted")
	}
	if _, err := replace(page, fieldsOf("status"), ""); err == nil {
		t.Error("a page without a place for the status is accepted")
	}
}
