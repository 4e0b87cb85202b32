package verdict_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/verdict"
)

const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRemedies: whoever reads the condition, or the event, learns what to do, and
// also when the cause is as long as a hostile server, or a policy, can make it.
func TestRemedies(t *testing.T) {
	long := strings.Repeat("\U0001f600<", 2000)
	seen := map[string]report.Reason{}
	for _, cause := range report.Causes {
		reason := cause.Reason
		short := verdict.Judge(verdict.Input{Failure: report.Incomplete{Reason: reason, Message: "x"}})
		_, advice, _ := strings.Cut(short.Audited.Message, "X. ")
		if len(advice) < 40 || !strings.HasSuffix(advice, ".") {
			t.Errorf("%s says only %q", reason, short.Audited.Message)
		}
		if other, ok := seen[advice]; ok {
			t.Errorf("%s has the remedy of %s", reason, other)
		}
		seen[advice] = reason
		got := verdict.Judge(verdict.Input{Failure: report.Incomplete{Reason: reason, Message: long}})
		for of, message := range map[string]string{"Ready": got.Ready.Message, "Audited": got.Audited.Message} {
			if size := len(message); size > conditions.MaxMessage || !strings.HasSuffix(message, advice) {
				t.Errorf("%s with a long cause: %s has %d bytes and ends %q", reason, of, size, message[max(0, size-80):])
			}
		}
	}
}

// TestReasonsAreOneList: every reason has one row, and its section in the documentation.
func TestReasonsAreOneList(t *testing.T) {
	rows := map[string]bool{}
	for _, cause := range report.Causes {
		if rows[string(cause.Reason)] {
			t.Errorf("%s has two rows", cause.Reason)
		}
		rows[string(cause.Reason)] = true
	}
	sections, _, _ := strings.Cut(read(t, "docs/troubleshooting.md"), "\n## Where each failure shows")
	for place, got := range map[string]map[string]bool{
		"the constants":           find(`(?m)^\tReason\w+ +Reason = "(\w+)"`, read(t, "api/report/causes.go")),
		"docs/troubleshooting.md": find(`(?m)^### (\w+)$`, sections),
	} {
		if !maps.Equal(got, rows) {
			t.Errorf("%s: %v\nrows: %v", place, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(rows)))
		}
	}
}

func find(pattern, text string) map[string]bool {
	found := map[string]bool{}
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found[match[1]] = true
	}
	return found
}

// TestReasonsHaveProducers: a reason that nothing gives is a promise that nobody keeps.
func TestReasonsHaveProducers(t *testing.T) {
	used := map[string]bool{}
	for _, folder := range []string{"api/report", "controllers", "runner", "cmd/runner"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || entry.Name() == "causes.go" {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if name, ok := node.(*ast.Ident); ok {
					used[name.Name] = true
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, cause := range report.Causes {
		reason := cause.Reason
		if !used["Reason"+string(reason)] {
			t.Errorf("nothing gives the reason %s", reason)
		}
	}
}
