package cluster_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/mcpaudit/mcpaudit/runner/render"
	"github.com/mcpaudit/mcpaudit/test/crds"
	"github.com/mcpaudit/mcpaudit/test/golden"
)

func TestGolden(t *testing.T) {
	for name, args := range map[string]string{
		"help":             "help",
		"list":             "list",
		"list-wide":        "list -A -o wide",
		"list-name":        "list -o name",
		"list-empty":       "list -n nowhere",
		"show":             "show notes",
		"show-wide":        "show notes -o wide",
		"show-sarif":       "show notes -o sarif",
		"show-markdown":    "show notes -o markdown",
		"show-junit":       "show notes -o junit",
		"show-status":      "show calm",
		"show-first":       "show first",
		"show-fresh":       "show fresh",
		"show-queued":      "show again",
		"show-changed":     "show changed",
		"show-blind":       "show blind",
		"show-help":        "show --help",
		"diff":             "diff notes",
		"diff-reports":     "diff notes-2 notes-1",
		"diff-no-report":   "diff calm",
		"approve":          "approve notes",
		"approve-first":    "approve calm",
		"approve-blind":    "approve blind",
		"approve-fresh":    "approve fresh",
		"approve-changed":  "approve changed",
		"logs-over":        "logs calm",
		"logs-queued":      "logs again",
		"missing":          "show nobody",
		"missing-report":   "diff notes-1 notes-9",
		"bad-output":       "list -o xml",
		"bad-flag":         "show --bogus",
		"bad-command":      "frobnicate",
		"no-command":       "",
		"no-name":          "show",
		"run-no-image":     "run",
		"run-bad-port":     "run --image x --transport http",
		"run-bad-fail-on":  "run --image x --fail-on hi",
		"run-before-dash":  "run --image x node -- server.js",
		"name-and-context": "list --context elsewhere",
	} {
		t.Run(name, func(t *testing.T) {
			o := team(t).call(strings.Fields(args)...)
			compare(t, name, o)
		})
	}
}

// compare holds an outcome against its golden file, and wants nothing in it that a
// terminal would obey.
func compare(t *testing.T, name string, o outcome) {
	t.Helper()
	got := o.stdout
	if o.stderr != "" {
		got += "--- stderr\n" + o.stderr
	}
	if o.err != "" {
		got += "--- error\n" + o.err + "\n"
	}
	got += fmt.Sprintf("--- exit %d\n", o.code)
	for _, r := range got {
		if r != '\n' && !render.Visible(r) || unicode.Is(unicode.Bidi_Control, r) {
			t.Fatalf("%q is in the output:\n%q", r, got)
		}
	}
	golden.Compare(t, filepath.Join("testdata", name+".golden"), got)
}

// The columns of list have the names of the CRD's printer columns, or show what those
// cannot.
func TestColumns(t *testing.T) {
	known := []string{"NAMESPACE", "NAME", "FINDINGS", "DRIFT", "TRIGGER"}
	for _, column := range crds.All(t)["MCPServerAudit"].Spec.Versions[0].AdditionalPrinterColumns {
		known = append(known, strings.ToUpper(column.Name))
	}
	heads, _, _ := strings.Cut(team(t).call("list", "-A", "-o", "wide").stdout, "\n")
	for head := range strings.FieldsSeq(heads) {
		if !slices.Contains(known, head) {
			t.Errorf("%s is no printer column: %v", head, known)
		}
	}
}
