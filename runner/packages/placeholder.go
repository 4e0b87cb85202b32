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

// Fill replaces the placeholders of a text by the values that of returns for their names, and leaves unknown ones.
// secret: one of the values is a secret.
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

// plausible makes up a value for a user's setting by its kind, a type of a bundle's
// user_config (MANIFEST.md) or a format of server.json, and by its name.
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

// variableOf writes a name as that of an environment variable, by which decoys are chosen.
func variableOf(name string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", " ", "_").Replace(strings.TrimLeft(name, "-")))
}
