// Command rulesdoc writes docs/rules.md from the catalogue of rules.
//
//	go run ./hack/rulesdoc docs/rules.md
package main

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/template"

	"github.com/mcpaudit/mcpaudit/runner/rules"
)

//go:embed rules.md.tmpl
var page string

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: rulesdoc FILE")
		os.Exit(2)
	}
	text, err := document()
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rulesdoc:", err)
		os.Exit(1)
	}
}

// document returns the whole reference.
func document() (string, error) {
	parsed, err := template.New("rules").Funcs(template.FuncMap{
		"lower": strings.ToLower, "plain": plain, "severity": severity, "lookUp": lookUp, "referring": referring,
	}).Parse(page)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	err = parsed.Execute(&text, map[string]any{"Families": rules.Families(), "References": rules.References()})
	return text.String(), err
}

func lookUp(id string) (rules.Reference, error) {
	ref, ok := rules.LookUp(id)
	if !ok {
		return ref, fmt.Errorf("the catalogue has no reference %s", id)
	}
	return ref, nil
}

// referring returns the rules that refer to an entry of another catalogue.
func referring(id string) []rules.Rule {
	return slices.DeleteFunc(slices.Clone(rules.All()), func(r rules.Rule) bool { return !slices.Contains(r.References, id) })
}

// severity returns "at most High" for a rule whose findings can be less.
func severity(r rules.Rule) string {
	if len(r.Severities) > 0 || strings.Contains(r.Description, "Medium") || strings.Contains(r.Description, "Low") {
		return "at most " + string(r.Severity)
	}
	return string(r.Severity)
}

// plain escapes Markdown outside of code.
func plain(text string) string {
	parts := strings.Split(text, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`, "|", `\|`, "[", `\[`).Replace(parts[i])
	}
	return strings.Join(parts, "`")
}
