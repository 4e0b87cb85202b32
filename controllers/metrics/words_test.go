package metrics

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// TestWordsAreComplete reads the constants of the API: a reason that is added there
// and not here would be counted as another one.
func TestWordsAreComplete(t *testing.T) {
	var reasons words
	for _, c := range v1alpha1.AuditConditions {
		reasons = slices.Concat(reasons, c.True, c.False, c.Unknown)
	}
	found := 0
	for _, check := range []struct {
		prefix string
		known  words
	}{{"Reason", reasons}, {"Trigger", triggers}, {"Verdict", verdicts}} {
		for name, value := range constants(t, check.prefix) {
			found++
			if check.known.label(value) == other {
				t.Errorf("%s = %q is in no list of words.go, and in no row of v1alpha1.AuditConditions", name, value)
			}
		}
	}
	if found < 35 {
		t.Errorf("found %d constants: this test reads the wrong files", found)
	}
}

// constants are the string constants about MCPServerAudits with a prefix.
func constants(t *testing.T, prefix string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range []string{"conditions.go", "mcpserveraudit_status.go"} {
		path := filepath.Join("..", "..", "api", "v1alpha1", name)
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
				return true
			}
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				found[spec.Names[0].Name], err = strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
			}
			return true
		})
	}
	return found
}
