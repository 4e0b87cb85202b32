package attack

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// TestBegun: guards may check how a value begins. So an honest value that may be an expression itself stays whole before
// the one that is tried.
func TestBegun(t *testing.T) {
	for value, want := range map[string]string{
		"(2 + 3) * 4":  "(2 + 3) * 4",
		"sqrt(16)":     "sqrt(16)",
		"a (b":         "a ",
		"a' or 'b'":    "a",
		"{name} there": "marlow-c7",
	} {
		if got := (field{value: value}).begun(inputs.Mark{Call: 7}); got != want {
			t.Errorf("%q begins with %q, not %q", value, got, want)
		}
	}
}

// TestForbiddenWords: in each place there is an expression of JavaScript without the words that filters forbid.
func TestForbiddenWords(t *testing.T) {
	forbidden := regexp.MustCompile(`(?i)require|import|eval|process|child|exec|constructor|function\b`)
	for _, place := range []string{"globalThis", "(2 + 3),globalThis", "${globalThis", "{{globalThis"} {
		if !slices.ContainsFunc(codeForms, func(f form) bool {
			value := f.write(field{value: "(2 + 3)"}, inputs.Mark{Call: 7}, 1)
			return strings.Contains(value, place) && !forbidden.MatchString(value)
		}) {
			t.Errorf("there is none with %q", place)
		}
	}
}
