package v1alpha1_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// pageOf says which page tells of the words that a file declares; those of other files
// are in whichever page.
var pageOf = map[string]string{
	"conditions.go":                  "mcpserveraudit.md",
	"mcpserveraudit_status.go":       "mcpserveraudit.md",
	"mcpauditexception_types.go":     "mcpauditexception.md",
	"clustermcpauditpolicy_types.go": "clustermcpauditpolicy.md",
	"gate_types.go":                  "mcpauditpolicy.md",
}

// TestWordsAreDocumented: every condition type, every reason, and every other word that
// a status may say is in the page of its kind; every reason of a condition and of the
// gate has an entry in docs/troubleshooting.md.
func TestWordsAreDocumented(t *testing.T) {
	help := page(t, "troubleshooting.md")
	for file, words := range constants(t) {
		text := page(t, filepath.Join("spec", pageOf[file]))
		for name, word := range words {
			if !strings.Contains(text, "`"+word+"`") {
				t.Errorf("docs/spec/%s does not tell of `%s` (%s)", pageOf[file], word, name)
			}
			reason := strings.HasPrefix(name, "Reason") || strings.HasPrefix(name, "Gate") && file == "gate_types.go"
			if reason && !strings.Contains(help, "\n### "+word+"\n") && !strings.Contains(help, "\n| `"+word+"` |") {
				t.Errorf("docs/troubleshooting.md has no entry for %s (%s)", word, name)
			}
		}
	}
}

// constants are the words of the API by file and name: conditions, reasons, skip reasons,
// triggers, phases and what the gate finds.
func constants(t *testing.T) map[string]map[string]string {
	t.Helper()
	found := map[string]map[string]string{}
	for file := range pageOf {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		found[file] = map[string]string{}
		ast.Inspect(parsed, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			literal, ok := spec.Values[0].(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if word, err := strconv.Unquote(literal.Value); err == nil && told(spec.Names[0].Name) {
				found[file][spec.Names[0].Name] = word
			}
			return true
		})
		if len(found[file]) == 0 {
			t.Errorf("%s declares no words: pageOf is out of date", file)
		}
	}
	return found
}

func told(name string) bool {
	for _, prefix := range []string{"Condition", "Reason", "Skip", "Trigger", "Phase", "Verdict", "Gate"} {
		if strings.HasPrefix(name, prefix) {
			return name != "GateLabel" && name != "GateEnabled" && name != "GateEnforce" && name != "GateWarn" && name != "GateAudit"
		}
	}
	return false
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
