package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tests returns the content of all files with tests.
func tests(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		all.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

var (
	row  = regexp.MustCompile(`(?m)^\| (.*) \| (.*) \| (.*) \|$`)
	code = regexp.MustCompile("`([^`]+)`")
)

// TestHeldBy: each row of the tables "held by" of the security model names a test that
// there is, or links to a sentence; and each finding of the reviews has a row.
func TestHeldBy(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "docs", "security-model.md"))
	if err != nil {
		t.Fatal(err)
	}
	const head = "| held by |\n|---|---|---|\n"
	tables := strings.Split(string(content), head)[1:]
	if len(tables) != 2 {
		t.Fatalf("%d tables", len(tables))
	}
	sources, held := tests(t), map[string]bool{}
	for _, table := range tables {
		table, _, _ = strings.Cut(table, "\n\n")
		for _, cells := range row.FindAllStringSubmatch(table, -1) {
			held[cells[1]] = true
			names := code.FindAllStringSubmatch(cells[3], -1)
			if len(names) == 0 && !strings.Contains(cells[3], "](") {
				t.Errorf("%s: no test and no link", cells[1])
			}
			for _, name := range names {
				if !strings.Contains(sources, `"`+name[1]) && !strings.Contains(sources, "func "+name[1]+"(") {
					t.Errorf("%s: there is no test %s", cells[1], name[1])
				}
			}
		}
	}
	for prefix, most := range map[string]int{"S": 19, "L": 10} {
		for i := range most {
			if id := prefix + strconv.Itoa(i+1); !held[id] {
				t.Errorf("%s has no row", id)
			}
		}
	}
}

// TestGlossary: what the glossary says a thing is called in the code, it is called.
func TestGlossary(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "docs", "concepts.md"))
	if err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(string(content), "\n## The life")
	rows := glossaryRow.FindAllStringSubmatch(table, -1)
	if len(rows) < 18 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, cells := range rows {
		names := code.FindAllStringSubmatch(cells[2], -1)
		if len(names) == 0 {
			t.Errorf("%s: not said what it is in the code", cells[1])
		}
		for _, name := range names {
			if !declared(t, name[1]) {
				t.Errorf("%s: there is no %s in the code", cells[1], name[1])
			}
		}
	}
}

var glossaryRow = regexp.MustCompile(`(?m)^\| \*\*(.*)\*\* \| .* \| (.*) \| .* \|$`)

// declared reports whether there is a package of that name, or a type in it ("gate", "gate.Decision").
func declared(t *testing.T, identifier string) bool {
	t.Helper()
	name, typ, isType := strings.Cut(identifier, ".")
	for _, top := range []string{"api", "controllers", "runner"} {
		files, err := filepath.Glob(filepath.Join(root, top, name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !isType || strings.Contains(string(content), "\ntype "+typ+" ") {
				return true
			}
		}
	}
	return false
}
