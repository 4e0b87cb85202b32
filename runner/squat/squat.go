// Package squat reports whether a name can be mistaken for a well-known one.
//
// It compares the distinctive part of a name, without "mcp", "server" and
// the scope: half of all servers are rightly named after a service. Only typing errors and deceptions
// count: a letter that is doubled, left out, swapped, or mistyped for its neighbour; a letter of another
// alphabet or a digit that looks like one; a scope that became a prefix. A name that is itself
// known never counts. The package is pure.
package squat

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// Likeness is a well-known name that another one resembles.
type Likeness struct {
	Known string
	// How describes the difference: "a letter is doubled".
	How string
}

const (
	minCore  = 5   // runes of the shortest word that is compared: too many shorter ones are near
	minTwice = 10  // runes of the shortest word in which two errors count
	maxName  = 214 // bytes, as in npm
)

const alike = "there are characters that look like others"

// Server compares the name that a server gives itself.
func Server(name string) (Likeness, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" || len(name) > maxName || known().names[name] {
		return Likeness{}, false
	}
	return compare(core(name))
}

// Package compares the name of a package of npm, PyPI or an image.
func Package(name string) (Likeness, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" || len(name) > maxName || known().names[name] {
		return Likeness{}, false
	}
	if l, ok := rescoped(name); ok {
		return l, true
	}
	if scope, rest, ok := strings.Cut(strings.TrimPrefix(name, "@"), "/"); ok && name[0] == '@' && !known().scopes[scope] {
		if l, ok := nearScope(scope, rest); ok {
			return l, true
		}
	}
	return compare(core(name))
}

// rescoped finds a name that differs from a known one with a scope only in punctuation:
// modelcontextprotocol-server-memory.
func rescoped(name string) (Likeness, bool) {
	of := known().squeezed[squeeze(name)]
	if of == "" || !strings.HasPrefix(of, "@") || of == name {
		return Likeness{}, false
	}
	if _, rest, _ := strings.Cut(of, "/"); distinctive(rest) == "" {
		return Likeness{}, false // netlify-mcp is an ordinary name beside @netlify/mcp
	}
	return Likeness{of, "its scope is another, or part of the name"}, true
}

// nearScope finds a scope that looks like a known one.
func nearScope(scope, rest string) (Likeness, bool) {
	for _, of := range slices.Sorted(maps.Keys(known().scopes)) {
		if len(of) < 8 || !known().names["@"+of+"/"+rest] {
			continue
		}
		how := near(scope, of)
		if skeleton(scope) == skeleton(of) {
			how = alike
		}
		if how != "" {
			return Likeness{"@" + of + "/" + rest, "in the scope " + how}, true
		}
	}
	return Likeness{}, false
}

// compare finds the known word that another looks like.
func compare(word string) (Likeness, bool) {
	if utf8.RuneCountInString(word) < minCore || known().names[word] {
		return Likeness{}, false
	}
	if of := known().skeletons[skeleton(word)]; of != "" {
		return Likeness{of, alike}, true
	}
	for length := len(word) - 2; length <= len(word)+2; length++ {
		for _, of := range known().byLength[length] {
			if how := near(word, of); how != "" {
				return Likeness{known().cores[of], how}, true
			}
		}
	}
	return Likeness{}, false
}

// common are words that distinguish no name.
var common = words.SetOf("mcp", "server", "servers", "the", "official", "example", "api", "client",
	"modelcontextprotocol", "awslabs", "developer", "mcpserver")

// core returns the distinctive part of a name: without scope, common words and punctuation.
func core(name string) string {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, "@") {
		if _, rest, ok := strings.Cut(name, "/"); ok && distinctive(rest) != "" {
			name = rest
		}
	}
	return distinctive(name)
}

func distinctive(name string) string {
	var b strings.Builder
	for _, word := range words.OfName(name) {
		if !common[word] {
			b.WriteString(word)
		}
	}
	return b.String()
}

// squeeze returns a name without punctuation.
func squeeze(name string) string { return strings.Join(words.OfName(name), "") }
