package poison

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// Models imitate examples. So an example of a call is read like the value that a schema gives as one: whose argument is filled with
// "<contents of ~/.netrc>" or "$(env)", it asks for that.

// maxExamples bounds the examples that are read in one text.
const maxExamples = 64

// assigned matches an argument with a quoted value: trace="...", "trace": "...", --trace '...'.
var assigned = lazyregexp.New("([A-Za-z_][A-Za-z0-9_]{1,63})[\"'`]?\\s*(?::=|=|:|\\s)\\s*(?:expected\\s+)?(?:\"([^\"\\n]{3,300})\"|'([^'\\n]{3,300})'|`([^`\\n]{3,300})`)")

// exemplifies finds a value or an example that fills a free argument with what only the model can give.
func (r *reader) exemplifies(text string) (Finding, bool) {
	if r.of.Kind == KindName {
		return Finding{}, false
	}
	if r.of.Kind == KindValue && r.free(r.of.Argument) {
		if technique, ok := (&reader{of: r.of, own: r.own}).pretends(text); ok {
			return Finding{Technique: technique, Quote: cut(text), End: len(text), Confidence: leastTied}, true
		}
	}
	for _, at := range assigned.FindAllStringSubmatchIndex(text, maxExamples) {
		name, value := text[at[2]:at[3]], ""
		for i := 4; i < len(at); i += 2 {
			if at[i] >= 0 {
				value = text[at[i]:at[i+1]]
			}
		}
		if !r.free(name) {
			continue
		}
		of := r.of
		of.Kind, of.Argument = KindValue, name
		if technique, ok := (&reader{of: of, own: r.own, text: value}).pretends(value); ok {
			return Finding{Technique: technique, Quote: cut(text[at[0]:at[1]]), Start: at[0], End: at[1], Confidence: leastTied}, true
		}
	}
	return Finding{}, false
}

// placeholder matches a placeholder or a substitution, and what stands in it.
var placeholder = lazyregexp.New("<([^<>]{3,200})>|\\{\\{([^{}]{3,200})\\}\\}|\\$\\{([^{}]{3,200})\\}|\\$\\(([^()]{3,200})\\)|\\[([^\\[\\]]{3,200})\\]|\\(([^()]{3,200})\\)")

// pretends reports what only the model can give in the placeholders of a value.
func (r *reader) pretends(value string) (Technique, bool) {
	for _, at := range placeholder.FindAllStringSubmatch(value, maxExamples) {
		inner := strings.Join(at[1:], "")
		if r.substitutes(inner) {
			return SensitiveData, true
		}
		for _, s := range split(words.Spell(inner)) {
			r.text = words.Spell(inner)
			if technique, v := r.asksByName(&s); v.confidence > 0 {
				return technique, true
			}
			for j := range s.Tokens {
				switch {
				case s.exchangedAt(j), s.utteredAt(j), s.instructedAt(j), s.text(j) == "message" && s.any(j-1, j-1, ofPersons) && s.any(j-3, j-2, extents):
					return ContextRequest, !aboutAny(words.OfName(r.of.Own), talkative)
				case s.userSecret(j), s.environmentAt(j):
					return SensitiveData, !aboutAny(words.OfName(r.of.Own), keyed)
				}
			}
		}
	}
	return "", false
}

// shows are commands and prefixes by which a substitution stands for what is in a file or in the environment.
var shows = words.SetOf("cat", "head", "tail", "base64", "file", "contents", "content", "copied", "copy", "text", "lines", "read", "less", "xxd")

// substitutes matches what is in a file with secrets, or in the environment: "cat ~/.ssh/id_rsa", "file:~/.netrc", "env | base64".
func (r *reader) substitutes(inner string) bool {
	parts := strings.FieldsFunc(inner, func(c rune) bool { return strings.ContainsRune(" :|,;\t", c) })
	if len(parts) == 0 {
		return false
	}
	if parts[0] == "env" || parts[0] == "printenv" {
		return strings.Contains(inner, "|") || len(parts) == 1
	}
	return slices.ContainsFunc(parts, func(p string) bool { return shows[strings.ToLower(p)] }) && slices.ContainsFunc(parts, func(p string) bool {
		of, ok := places.Locate(strings.Replace(p, "~/", "/home/user/", 1))
		return ok && strings.ContainsAny(p, "./~") && !aboutAny(append(words.OfName(r.of.Own), words.OfName(r.of.Argument)...), of.Topics)
	})
}
