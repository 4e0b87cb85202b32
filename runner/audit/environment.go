package audit

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/environ"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/credential"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// set returns the variables that the user sets, by name.
func set(env []string) map[string]string {
	all := map[string]string{}
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		all[name] = value
	}
	return all
}

// environmentOf names the variables for the report; nil if there are none.
func environmentOf(env []string) *report.Environment {
	if len(env) == 0 {
		return nil
	}
	return &report.Environment{Names: slices.Sorted(maps.Keys(set(env)))}
}

// shortener shortens the secrets that the user sets, by the names of their variables.
func shortener(env []string) func(string) string {
	const shortest = 8 // bytes; shorter values may be words, and would match anything
	var pairs []string
	all := set(env)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if value := all[name]; decoy.Secret(name) && len(value) >= shortest {
			pairs = append(pairs, value, credential.Shorten(value))
		}
	}
	return strings.NewReplacer(pairs...).Replace
}

// misled returns why the audit is not about the named server: its environment made it load other code.
func misled(env []string) report.Incomplete {
	all := set(env)
	problem := environ.Problem(slices.Sorted(maps.Keys(all)), func(name string) string { return all[name] })
	if problem == "" {
		return report.Incomplete{}
	}
	return report.Incomplete{Reason: report.ReasonCodeLoaded, Message: problem}
}
