package rules

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// The digest changes with what decides and with what a finding has of its rule, and with
// no other word.
func TestDigest(t *testing.T) {
	of := func(version int, change func(*Rule), risks map[string]float64, words map[string]string) string {
		rule := Rule{ID: "MCPA-A-001", Severity: report.SeverityHigh, Title: "t", Risk: "R", Mitigation: "m", Description: "d", Fix: "f", Expected: "e"}
		change(&rule)
		return digest(version, []Rule{rule}, risks, words)
	}
	risks, lists, nothing := map[string]float64{"R": 0.5}, map[string]string{"a": "[]"}, func(*Rule) {}
	same := of(1, nothing, risks, lists)
	for name, got := range map[string]string{
		"the version": of(2, nothing, risks, lists),
		"a weight":    of(1, nothing, map[string]float64{"R": 0.6}, lists),
		"a word":      of(1, nothing, risks, map[string]string{"a": `["b"]`}),
		"the id":      of(1, func(r *Rule) { r.ID = "MCPA-A-002" }, risks, lists),
		"severity":    of(1, func(r *Rule) { r.Severity = report.SeverityLow }, risks, lists),
		"title":       of(1, func(r *Rule) { r.Title = "u" }, risks, lists),
		"mitigation":  of(1, func(r *Rule) { r.Mitigation = "n" }, risks, lists),
		"risk":        of(1, func(r *Rule) { r.Risk = "S" }, risks, lists),
	} {
		if got == same {
			t.Errorf("%s does not change the digest", name)
		}
	}
	if got := of(1, func(r *Rule) { r.Description, r.Fix, r.Expected, r.References = "D", "F", "E", []string{"X"} }, risks, lists); got != same {
		t.Error("prose that is in no finding changes the digest")
	}
	if !regexp.MustCompile(`^sha256:[0-9a-f]{64}$`).MatchString(Digest()) {
		t.Errorf("the digest is %q", Digest())
	}
	if files := slices.Sorted(maps.Keys(words.All())); !slices.Contains(files, "squat") {
		t.Errorf("the word lists are %q", files)
	}
}
