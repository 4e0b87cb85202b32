// Package score makes one number of the findings of an audit, for people who have
// to decide what to look at first. No verdict depends on it. docs/risk.md has the
// formula and the reasons for it.
package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// Of is the risk of what was found. What was not declared counts, and how bad it
// is; what is suppressed does not, and whether the audit was complete makes no
// difference. It does not depend on the order of the findings, and one more never
// lowers it.
func Of(findings []report.Finding) report.Risk {
	seen := map[risk][]report.Finding{}
	for _, f := range report.Counting(findings) {
		if of := riskOf(f.Rule); part(of, []report.Finding{f}) > 0 {
			seen[of] = append(seen[of], f)
		}
	}
	var all []weighed
	for of, found := range seen {
		all = append(all, weighed{of, found, part(of, found)})
	}
	// The order is always the same, so that rounding loses the same.
	slices.SortFunc(all, func(a, b weighed) int { return strings.Compare(a.name, b.name) })
	nothing := 1.0 // that nothing comes of any of them
	for _, w := range all {
		nothing *= 1 - w.brings
	}
	of := report.Risk{Score: points(1 - nothing)}
	of.Level = report.RiskLevelOf(of.Score)
	if len(all) > 0 {
		of.Parts = share(of.Score, all)
	}
	return of
}

// points are a share of 100, rounded; what is not nothing is at least one.
func points(p float64) int {
	if p <= 0 {
		return 0
	}
	return min(100, max(1, int(math.Round(100*p))))
}

// risk is a kind of risk of the catalogue with its weight.
type risk struct {
	name   string
	weight float64
}

func riskOf(rule string) risk {
	name, weight := rules.Risk(rule)
	return risk{name, weight}
}

// grades has the share of its kind's weight that a finding of a severity brings, from
// the lowest severity. Info brings nothing: it is no risk.
var grades = []float64{0, 0.1, 0.4, 0.9, 1}

// part returns what a kind of risk brings, from 0 to its weight: its worst severity decides.
// More findings of that severity come closer to the next one, up to half the way,
// so that no number of small things amounts to a large one.
func part(of risk, findings []report.Finding) float64 {
	worst, count := 0, 0
	for _, f := range findings {
		switch grade := gradeOf(f.Severity); {
		case grade > worst:
			worst, count = grade, 1
		case grade == worst:
			count++
		}
	}
	share := grades[worst]
	if worst > 0 && worst+1 < len(grades) {
		share += (grades[worst+1] - share) / 2 * (1 - 1/float64(count))
	}
	return of.weight * share
}

// gradeOf is the index of a severity in grades. An unknown one is the highest, as
// in report.Count.
func gradeOf(s report.Severity) int {
	if rank := s.Rank(); rank >= 0 {
		return rank
	}
	return len(grades) - 1
}

// weighed is a kind of risk with its findings and what they bring.
type weighed struct {
	risk
	findings []report.Finding
	brings   float64
}

// share divides the score among the kinds of risk, so that the parts add up to it
// (largest remainders): chances multiply, and their logarithms add up.
func share(score int, all []weighed) []report.RiskPart {
	total := 0.0
	for _, w := range all {
		total += -math.Log1p(-w.brings)
	}
	parts, remainders, rest := make([]report.RiskPart, len(all)), map[string]float64{}, score
	for i, w := range all {
		exact := float64(score) * -math.Log1p(-w.brings) / total
		parts[i] = report.RiskPart{Family: w.name, Points: int(exact), Because: because(w.findings)}
		remainders[w.name] = exact - math.Floor(exact)
		rest -= parts[i].Points
	}
	slices.SortStableFunc(parts, func(a, b report.RiskPart) int { return cmp.Compare(remainders[b.Family], remainders[a.Family]) })
	for i := range rest {
		parts[i].Points++
	}
	slices.SortFunc(parts, func(a, b report.RiskPart) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), strings.Compare(a.Family, b.Family))
	})
	return parts
}

// because says what was seen: "Undeclared network egress (2 High, 1 Low)".
func because(findings []report.Finding) string {
	const named = 2
	sorted := slices.Clone(findings)
	slices.SortFunc(sorted, func(a, b report.Finding) int {
		return cmp.Or(cmp.Compare(gradeOf(b.Severity), gradeOf(a.Severity)), strings.Compare(a.Rule, b.Rule), strings.Compare(a.Title, b.Title))
	})
	var titles []string
	for _, f := range sorted {
		if !slices.Contains(titles, f.Title) {
			titles = append(titles, f.Title)
		}
	}
	if more := len(titles) - named; more > 0 {
		titles = append(titles[:named], fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("%s (%s)", strings.Join(titles, ", "), report.Count(findings))
}
