package render

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// The rules of results that are not findings, for readers that look only at results.
const (
	ruleInconclusive = "MCPA-INCONCLUSIVE"
	ruleFailed       = "MCPA-FAILED"
	ruleExposure     = "MCPA-EXPOSURE"
)

// maxRuleText is GitHub's limit for the description of a rule, in characters.
const maxRuleText = 1024

// ruleBook has the rules that the results refer to, each once. Others are left out: an
// older report may have been judged by fewer.
type ruleBook struct {
	rules []sarifRule
	at    map[string]int
}

// index returns the index of a rule, which it adds if needed.
func (b *ruleBook) index(id string, make func() sarifRule) int {
	at, ok := b.at[id]
	if !ok {
		at = len(b.rules)
		b.at[id] = at
		b.rules = append(b.rules, make())
	}
	return at
}

// ruleName returns the id of a finding's rule.
func ruleName(f report.Finding) string {
	return report.Cut(cmp.Or(sarifPlain(f.Rule), "MCPA-UNKNOWN"), 255)
}

// ofFinding describes the rule of a finding, from this version's ruleset if that has the
// rule.
func ofFinding(f report.Finding) sarifRule {
	r, ok := rules.Find(f.Rule)
	if !ok {
		title := sarifPlain(cmp.Or(f.Title, f.Rule, "A rule that this version does not know"))
		return ruleOf(ruleName(f), title, title, f.Severity, sarifText{Text: title}, "")
	}
	return ofRule(r)
}

func ofRule(r rules.Rule) sarifRule {
	var text, markdown []string
	for _, part := range r.Parts() {
		says, shown := part.Name+":", "**"+part.Name+":**"
		if part.Text != "" {
			says, shown = says+" "+part.Text, shown+" "+prose(part.Text)
		}
		for _, item := range part.Items {
			says, shown = says+"\n* "+item, shown+"\n* "+prose(item)
		}
		text, markdown = append(text, says), append(markdown, shown)
	}
	if all := references(r); all != "" {
		markdown = append(markdown, all)
	}
	help := sarifText{Text: strings.Join(text, "\n\n"), Markdown: strings.Join(markdown, "\n\n")}
	made := ruleOf(r.ID, r.Title, r.Description, r.Severity, help, rulesPage+"#"+strings.ToLower(r.ID))
	family, _, _ := strings.Cut(strings.TrimPrefix(r.ID, "MCPA-"), "-")
	made.Properties.Tags = append(made.Properties.Tags, strings.ToLower(family))
	for _, id := range r.References[:min(len(r.References), maxTags-len(made.Properties.Tags))] {
		made.Properties.Tags = append(made.Properties.Tags, "external/"+strings.ToLower(strings.ReplaceAll(id, " ", "-")))
	}
	return made
}

// maxTags is the number of a rule's tags that GitHub shows.
const maxTags = 10

func references(r rules.Rule) string {
	var all []string
	for _, id := range r.References {
		if ref, ok := rules.LookUp(id); ok {
			all = append(all, fmt.Sprintf("* [%s %s](%s)", ref.ID, ref.Title, ref.URL))
		}
	}
	return strings.Join(all, "\n")
}

func ruleOf(id, title, description string, severity report.Severity, help sarifText, page string) sarifRule {
	made := sarifRule{
		ID: id, Name: pascal(title), ShortDescription: sarifText{Text: report.Cut(title, maxRuleText)},
		FullDescription: sarifText{Text: report.Cut(description, maxRuleText)}, Help: help, HelpURI: page,
		DefaultConfiguration: sarifConfiguration{Level: levels[severity]},
		Properties:           sarifRuleBag{Tags: []string{"security", "mcp"}, Precision: "high", SecuritySeverity: scores[severity]},
	}
	if severity.Rank() < 0 { // as report.Count has it
		made.DefaultConfiguration.Level, made.Properties.SecuritySeverity = "error", scores[report.SeverityCritical]
	}
	if made.Properties.SecuritySeverity == "" {
		made.Properties.ProblemSeverity = "recommendation"
	}
	return made
}

// scores has the severities as GitHub reads security-severity: above 9.0 is critical,
// from 7.0 high, from 4.0 medium, below that low. Info has none.
var scores = map[report.Severity]string{
	report.SeverityCritical: "9.5", report.SeverityHigh: "8.0", report.SeverityMedium: "5.5", report.SeverityLow: "2.0",
}

// levels has the severities in SARIF's terms (3.27.10).
var levels = map[report.Severity]string{
	report.SeverityCritical: "error", report.SeverityHigh: "error", report.SeverityMedium: "warning",
	report.SeverityLow: "note", report.SeverityInfo: "note",
}

// inconclusiveRule and failedRule describe results that are not findings.
func inconclusiveRule() sarifRule {
	text := "The audit could not observe everything. That nothing was found by it does not say that there is nothing. " +
		"The reason is in the message; docs/troubleshooting.md tells what to do about each. Audit the server again."
	return ruleOf(ruleInconclusive, "Audit is inconclusive", text, report.SeverityHigh, sarifText{Text: text}, homePage+"/blob/main/docs/troubleshooting.md")
}

func failedRule() sarifRule {
	text := "The audit failed, and no finding of the report says why: the message does. A manifest that is not the pinned one is such a reason."
	return ruleOf(ruleFailed, "Audit failed", text, report.SeverityHigh, sarifText{Text: text}, homePage+"/blob/main/docs/drift.md")
}

func exposureRule() sarifRule {
	text := "The server enables whoever calls it to do this, and an argument decides how far. It is a description and no finding, whether the server declares it or not."
	return ruleOf(ruleExposure, "What the server enables", text, report.SeverityInfo, sarifText{Text: text}, homePage+"/blob/main/docs/exposure.md")
}

// pascal returns "UndeclaredNetworkEgress" for "Undeclared network egress": the name of a
// rule is an identifier (3.49.7).
func pascal(title string) string {
	var all strings.Builder
	for _, word := range strings.FieldsFunc(title, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) {
		all.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return report.Cut(cmp.Or(all.String(), "Unnamed"), 255)
}
