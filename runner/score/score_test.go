package score

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// found makes findings of words such as "EGRESS-001 High".
func found(words ...string) []report.Finding {
	var all []report.Finding
	for _, w := range words {
		rule, severity, _ := strings.Cut(w, " ")
		all = append(all, report.Finding{Rule: "MCPA-" + rule, Severity: report.Severity(severity), Title: "Title of " + rule})
	}
	return all
}

func TestScore(t *testing.T) {
	leaky := []string{"SECRET-002 Critical", "EGRESS-001 High", "SECRET-001 High"}
	for name, tc := range map[string]struct {
		findings []report.Finding
		score    int
		level    report.RiskLevel
	}{
		"nothing":                {nil, 0, report.RiskNone},
		"no more than Info":      {found("SCOPE-001 Info", "EGRESS-001 Info"), 0, report.RiskNone},
		"the least":              {found("PROTOCOL-001 Low"), 1, report.RiskLow},
		"many of the least":      {found(slices.Repeat([]string{"PROTOCOL-001 Low"}, 100)...), 2, report.RiskLow},
		"a doubt":                {found("EGRESS-001 Medium"), 20, report.RiskMedium},
		"many doubts":            {found(slices.Repeat([]string{"EGRESS-001 Medium"}, 100)...), 32, report.RiskMedium},
		"a promise broken":       {found("EGRESS-001 High"), 45, report.RiskHigh},
		"a command":              {found("EXEC-001 High"), 56, report.RiskHigh},
		"a secret carried off":   {found("SECRET-002 Critical"), 75, report.RiskCritical},
		"the leaky server":       {found(leaky...), 92, report.RiskCritical},
		"and it runs commands":   {found(append(leaky, "EXEC-001 High")...), 97, report.RiskCritical},
		"a severity of tomorrow": {found("EGRESS-001 Apocalyptic"), 50, report.RiskHigh},
		"a rule of tomorrow":     {found("QUANTUM-001 High"), 34, report.RiskMedium},
		"one of a known family":  {found("EGRESS-999 High"), 45, report.RiskHigh},
	} {
		got := Of(tc.findings)
		if got.Score != tc.score || got.Level != tc.level {
			t.Errorf("%s: %d %s, want %d %s", name, got.Score, got.Level, tc.score, tc.level)
		}
	}
}

func TestParts(t *testing.T) {
	got := Of(found("EGRESS-001 High", "EGRESS-003 Medium", "EGRESS-001 High", "SECRET-002 Critical", "SCOPE-001 Info", "PROTOCOL-001 Low"))
	want := report.Risk{Score: 87, Level: report.RiskCritical, Parts: []report.RiskPart{
		{Family: "Exfiltration", Points: 60, Because: "Title of SECRET-002 (1 Critical)"},
		{Family: "NetworkOutbound", Points: 27, Because: "Title of EGRESS-001, Title of EGRESS-003 (2 High, 1 Medium)"},
		{Family: "ProtocolViolation", Points: 0, Because: "Title of PROTOCOL-001 (1 Low)"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What is suppressed does not count, and what was does again.
func TestSuppressed(t *testing.T) {
	findings := found("EGRESS-001 High", "EXEC-001 Medium")
	findings[0].Suppressed = &report.Suppressed{Reason: "known", Until: report.At(time.Unix(1, 0))}
	if diff := cmp.Diff(Of(found("EXEC-001 Medium")), Of(findings)); diff != "" {
		t.Error(diff)
	}
	findings[0].Suppressed.Expired = true
	if diff := cmp.Diff(Of(found("EGRESS-001 High", "EXEC-001 Medium")), Of(findings)); diff != "" {
		t.Error(diff)
	}
}

// Every rule there is has a kind of risk, and a known one has a weight.
func TestEveryRuleHasARisk(t *testing.T) {
	for _, r := range rules.All() {
		of := riskOf(r.ID)
		if of.name == "Other" && r.Severity != report.SeverityInfo {
			t.Errorf("%s (%s) has no kind of risk", r.ID, r.Title)
		}
		if of.weight <= 0 || of.weight >= 1 {
			t.Errorf("%s: %s weighs %v", r.ID, of.name, of.weight)
		}
	}
}

// The score is bounded and its parts add up to it; no finding lowers it, a worse
// one does not either, and their order makes no difference.
func TestProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all := rules.All()
	draw := func() report.Finding {
		r := all[random.IntN(len(all))]
		return report.Finding{Rule: r.ID, Title: r.Title, Severity: report.Severities[random.IntN(len(report.Severities))]}
	}
	for range 3000 {
		var findings []report.Finding
		before := Of(nil)
		for range random.IntN(30) {
			findings = append(findings, draw())
			after := Of(findings)
			if after.Score < before.Score {
				t.Fatalf("%s lowers %d to %d", findings[len(findings)-1].Rule, before.Score, after.Score)
			}
			before = after
		}
		sum := 0
		for _, p := range before.Parts {
			sum += p.Points
		}
		grave := slices.ContainsFunc(findings, func(f report.Finding) bool { return f.Severity.Rank() > 0 })
		if before.Score < 0 || before.Score > 100 || sum != before.Score || grave != (before.Score > 0) || grave != (before.Level != report.RiskNone) ||
			len(before.Parts) > report.MaxRiskParts {
			t.Fatalf("%+v of %d findings", before, len(findings))
		}
		random.Shuffle(len(findings), func(i, j int) { findings[i], findings[j] = findings[j], findings[i] })
		if diff := cmp.Diff(before, Of(findings)); diff != "" {
			t.Fatal(diff)
		}
		if len(findings) > 0 {
			i := random.IntN(len(findings))
			rank := findings[i].Severity.Rank()
			findings[i].Severity = report.Severities[random.IntN(len(report.Severities)-rank)]
			if worse := Of(findings); worse.Score < before.Score {
				t.Fatalf("%s made %s lowers %d to %d", fmt.Sprint(findings[i].Rule), findings[i].Severity, before.Score, worse.Score)
			}
		}
	}
}
