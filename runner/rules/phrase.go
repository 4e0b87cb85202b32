package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// subject begins a sentence with who did it, and when, if not during a call.
func subject(e profile.Effect) string {
	if e.Phase == report.PhaseInstall {
		return "While it was installed, " + name(e.Capability)
	}
	if e.Capability.Kind != report.CapabilityServer {
		who := name(e.Capability)
		switch e.Attribution {
		case report.AttributionAfter, report.AttributionSettle:
			return "After its response, " + who
		case report.AttributionLineage:
			return "A process left behind by " + who
		}
		return capital(who)
	}
	if e.Attribution == report.AttributionBackground {
		return "In the background, after " + name(e.AlternativeCause) + ", the server"
	}
	switch e.Phase {
	case report.PhaseStartup:
		return "At start-up the server"
	case report.PhaseHandshake:
		return "In the handshake the server"
	case report.PhaseIdle:
		return "While idle, the server"
	case report.PhaseShutdown:
		return "At shutdown the server"
	default:
		return "The server"
	}
}

// name returns the name of a capability for a sentence.
func name(c report.Capability) string {
	if c.Kind == report.CapabilityServer || c.Kind == "" {
		return "the server"
	}
	return clean(c.String(), 100)
}

// whose quotes a clause with its place: "its description says ...", "the
// server's instructions say ...", "the declared scope says that it may write nothing".
func whose(clause scope.Clause, of report.Capability) string {
	switch clause.Source {
	case report.ScopeSpec:
		return "the declared scope says that it " + clean(clause.Means, 200)
	case report.ScopeServerJSON:
		return "its server.json says " + quoted(clause.Quote)
	}
	field := clause.Field
	if strings.HasPrefix(field, "annotations") {
		field = "annotations"
	}
	verb := " says "
	if field == "annotations" || field == "instructions" {
		verb = " say "
	}
	owner := "its "
	if clause.Capability != of {
		owner = name(clause.Capability) + "'s "
	}
	return owner + field + verb + quoted(clause.Quote)
}

// quoted quotes a text of the server for people.
func quoted(text string) string { return `"` + clean(text, 200) + `"` }

// clean makes a text of the server safe for a terminal and a log: one line without
// control and format characters (which could hide or reorder it), of at most so many bytes.
func clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r':
			return ' '
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return '?'
		}
		return r
	}, text)
	return report.Cut(text, most)
}

// sentence formats a text and ends it with a full stop.
func sentence(format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	if slices.ContainsFunc([]string{".", `."`, `!"`, "…", `…"`}, func(end string) bool { return strings.HasSuffix(text, end) }) {
		return text
	}
	return text + "."
}

// capital begins a text, which is not empty, with a capital letter.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
