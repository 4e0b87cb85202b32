// Command specdoc writes the fields of each kind into its page, from the CRD, and the reasons of
// Audited=False, from api/report.
//
//	go run ./hack/specdoc config/crd/bases docs/spec
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// mark has the lines before and after a generated table.
type mark struct{ begin, end string }

// fieldsOf returns the mark of a part's fields.
func fieldsOf(part string) mark {
	return mark{fmt.Sprintf("<!-- fields of %s: generated from the comments of api/v1alpha1 by make manifests -->", part), "<!-- end of the fields -->"}
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: specdoc CRDS PAGES")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "specdoc:", err)
		os.Exit(1)
	}
}

// run updates the page of each CRD. A kind without a page is an error.
func run(crds, pages string) error {
	files, err := filepath.Glob(filepath.Join(crds, "*.yaml"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no CRDs", crds)
	}
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := update(file, pages); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
	}
	return updateReasons(filepath.Join(pages, "mcpserveraudit.md"))
}

func update(file, pages string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	kind, schema, err := read(data)
	if err != nil {
		return err
	}
	page := filepath.Join(pages, strings.ToLower(kind)+".md")
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	fresh := string(text)
	for _, part := range []string{"spec", "status"} {
		if s, ok := schema.Properties[part]; ok {
			if fresh, err = replace(fresh, fieldsOf(part), table(part, s)); err != nil {
				return fmt.Errorf("%s: %w", page, err)
			}
		}
	}
	return os.WriteFile(page, []byte(fresh), 0o644)
}

// read returns the kind of a CRD and the schema of its one version.
func read(data []byte) (kind string, s schema, err error) {
	var crd struct {
		Spec struct {
			Names    struct{ Kind string }
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema schema `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(data, &crd); err != nil {
		return "", schema{}, err
	}
	if n := len(crd.Spec.Versions); n != 1 {
		return "", schema{}, fmt.Errorf("want one version, got %d", n)
	}
	return crd.Spec.Names.Kind, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, nil
}

// replace writes a table between the lines of its mark.
func replace(page string, m mark, table string) (string, error) {
	before, rest, ok := strings.Cut(page, m.begin+"\n")
	if !ok {
		return "", fmt.Errorf("the line %q is missing", m.begin)
	}
	_, after, ok := strings.Cut(rest, m.end+"\n")
	if !ok {
		return "", fmt.Errorf("the line %q is missing after %q", m.end, m.begin)
	}
	return before + m.begin + "\n\n" + table + "\n" + m.end + "\n" + after, nil
}
