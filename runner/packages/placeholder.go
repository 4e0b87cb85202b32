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

// maxFilled bounds the values in a text, in bytes: no kernel takes an argument that is longer (execve(2), MAX_ARG_STRLEN).
const maxFilled = 128 << 10

// Fill replaces the placeholders of a text by the values that of returns for their names, and leaves unknown ones, and those for
// which there is no room: a text of a thousand placeholders could stand for gigabytes. secret: one of the values is a secret.
func Fill(form *lazyregexp.Regexp, text string, of func(name string) (value string, secret, known bool)) (filled string, secret bool) {
	room := maxFilled
	filled = form.ReplaceAllStringFunc(text, func(found string) string {
		value, hidden, known := of(form.FindStringSubmatch(found)[1])
		if !known || len(value) > room {
			return found
		}
		room -= len(value)
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
