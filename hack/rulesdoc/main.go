// Command rulesdoc writes docs/rules.md from the rules themselves.
//
//	go run ./hack/rulesdoc docs/rules.md
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/rules"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: rulesdoc FILE")
		os.Exit(2)
	}
	text, err := document(rules.All())
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rulesdoc:", err)
		os.Exit(1)
	}
}

// section is a family of rules.
type section struct {
	family
	rules []rules.Rule
}

// document is the whole reference. It fails for a rule of a family that nobody has
// introduced, or one that refers to what is not known.
func document(all []rules.Rule) (string, error) {
	var text strings.Builder
	text.WriteString(introduction)
	sections, err := sectionsOf(all)
	if err != nil {
		return "", err
	}
	text.WriteString("\n## All rules\n\n| Rule | Severity | Finding |\n|---|---|---|\n")
	for _, s := range sections {
		for _, r := range s.rules {
			fmt.Fprintf(&text, "| [%s](#%s) | %s | %s |\n", r.ID, strings.ToLower(r.ID), r.Severity, plain(r.Title))
		}
	}
	for _, s := range sections {
		fmt.Fprintf(&text, "\n## %s\n\n%s\n", s.title, s.about)
		for _, r := range s.rules {
			if err := describe(&text, r); err != nil {
				return "", err
			}
		}
	}
	catalogues(&text, all)
	return text.String(), nil
}

// sectionsOf groups the rules by the middle of their ids, in the order in which the
// families come first.
func sectionsOf(all []rules.Rule) ([]section, error) {
	var sections []section
	at := map[string]int{}
	for _, r := range all {
		parts := strings.Split(r.ID, "-")
		if len(parts) != 3 {
			return nil, fmt.Errorf("%s: the id of a rule is MCPA-FAMILY-NNN", r.ID)
		}
		i, known := at[parts[1]]
		if !known {
			about, ok := families[parts[1]]
			if !ok {
				return nil, fmt.Errorf("%s: introduce the family %s in hack/rulesdoc/families.go", r.ID, parts[1])
			}
			i = len(sections)
			at[parts[1]] = i
			sections = append(sections, section{family: about})
		}
		sections[i].rules = append(sections[i].rules, r)
	}
	return sections, nil
}

// describe writes one rule. The heading is its id alone, so that its anchor never
// changes.
func describe(text *strings.Builder, r rules.Rule) error {
	fmt.Fprintf(text, "\n### %s\n\n**%s** · %s\n", r.ID, plain(r.Title), severity(r))
	for _, part := range []struct{ name, text string }{
		{"Decided by", r.Description},
		{"Expected false positives", r.Expected},
		{"Fix", r.Fix},
		{"Mitigation", r.WhoRuns()},
	} {
		if part.text != "" {
			fmt.Fprintf(text, "\n*%s.* %s\n", part.name, plain(part.text))
		}
	}
	var links []string
	for _, id := range r.References {
		ref, ok := rules.LookUp(id)
		if !ok {
			return fmt.Errorf("%s refers to %s, which is not known", r.ID, id)
		}
		links = append(links, fmt.Sprintf("[%s](%s) %s", ref.ID, ref.URL, plain(ref.Title)))
	}
	if len(links) > 0 {
		fmt.Fprintf(text, "\n*References.* %s\n", strings.Join(links, "; "))
	}
	return nil
}

func severity(r rules.Rule) string {
	if strings.Contains(r.Description, "Medium") || strings.Contains(r.Description, "Low") {
		return "at most " + string(r.Severity)
	}
	return string(r.Severity)
}

// catalogues lists what other catalogues have, and by which rules.
func catalogues(text *strings.Builder, all []rules.Rule) {
	by := map[string][]string{}
	for _, r := range all {
		for _, id := range r.References {
			by[id] = append(by[id], fmt.Sprintf("[%s](#%s)", r.ID, strings.ToLower(r.ID)))
		}
	}
	text.WriteString("\n" + aboutCatalogues + "\n\n| Entry | Rules |\n|---|---|\n")
	for _, ref := range rules.References() {
		if rules := by[ref.ID]; len(rules) > 0 {
			fmt.Fprintf(text, "| [%s](%s) %s | %s |\n", ref.ID, ref.URL, plain(ref.Title), strings.Join(rules, ", "))
		}
	}
}

// plain keeps Markdown from reading more into a text than is there, outside of
// code.
func plain(text string) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`, "|", `\|`, "[", `\[`).Replace(parts[i])
	}
	return strings.Join(parts, "`")
}
