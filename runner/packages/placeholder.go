package packages

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// The forms of placeholders: those of bundles and of clients' configurations, and those of server.json.
var (
	Dollar = lazyregexp.New(`\$\{([^{}]+)\}`)
	braces = lazyregexp.New(`\{([^{}]+)\}`)
)

// Fill replaces the placeholders of a text by what of returns for their names; one that it does not know stays.
// secret: one of them stands for a secret.
func Fill(form *lazyregexp.Regexp, text string, of func(name string) (value string, secret, known bool)) (filled string, secret bool) {
	filled = form.ReplaceAllStringFunc(text, func(found string) string {
		value, hidden, known := of(form.FindStringSubmatch(found)[1])
		if !known {
			return found
		}
		secret = secret || hidden
		return value
	})
	return filled, secret
}

// plausible is a value of a kind for what a user has to set, by its name. The kinds are the types of a bundle's
// user_config (MANIFEST.md) and the formats of server.json.
func plausible(kind, name string) string {
	switch kind {
	case "directory", "filepath":
		return "/tmp"
	case "number":
		return "1"
	case "boolean":
		return "true"
	}
	return decoy.Asked(variableOf(name), "").Value
}

// variableOf is a name as one of the environment: decoys are chosen by those.
func variableOf(name string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", " ", "_").Replace(strings.TrimLeft(name, "-")))
}
