package inputs

import (
	"path"
	"slices"
	"strings"

	lists "github.com/mcpaudit/mcpaudit/runner/words"
)

// want is a place that asks for a value.
type want struct {
	name string
	// words are the words of the name, about of the objects around it and of the
	// tool, description of the description.
	words, about, description []string
	tool                      string
	options                   Options
	path, directory           bool
	uri, number               bool
	// program: the value is run.
	program bool
	// bare: a path that may have to be a name without a directory.
	bare bool
	// takes: the call removes the path.
	takes bool
	// sole: the tool asks for no other text or number; settled: the schema itself
	// proposes a value.
	sole, settled bool
}

// likely is the least affinity with which a value is tried.
const likely = 3

// affinity returns how likely a value is meant for a place.
func affinity(w want, e entry) int {
	switch {
	case e.argument != "":
		if e.argument == w.name {
			return 20
		}
		return 0
	case !w.holds(e):
		return 0
	case e.offered:
		return offerAffinity(w, e)
	}
	score := nameAffinity(w, e)
	if w.path || w.uri && e.kind == uri {
		score = max(score, likely+1)
	}
	if w.settled && score <= likely { // another thing's name or id says nothing here
		score = 0
	}
	if (score > 0 || e.kind == id) && (has(w.words, e.about) || has(w.about, e.about)) {
		score += 2
	}
	return score
}

// holds reports whether a place takes values of this sort. Paths in the directory go only
// where a path is asked for, and URIs where one is, except those of hosts,
// which would all be relocated to the same. Only the tool itself may propose a command.
func (w want) holds(e entry) bool {
	switch {
	case w.program && !(w.own(e) && (e.offered || strings.HasPrefix(e.source, "the description of "))):
		return false
	case w.path || e.kind == path_:
		return w.holdsPath(e)
	case w.uri != (e.kind == uri || e.kind == email) || w.number && !isNumber(e.value):
		return false
	}
	scheme, _, isURL := strings.Cut(e.value, "://")
	return !isURL || !network(strings.ToLower(scheme))
}

func (w want) holdsPath(e entry) bool {
	if w.bare && e.kind == word && path.Ext(e.value) != "" {
		return true
	}
	inside := w.path && e.kind == path_ && w.options.within(path.Clean(e.value))
	return inside && !(w.directory && path.Ext(e.value) != "") && !(w.takes && w.options.keeps(path.Clean(e.value)))
}

// offerAffinity rates a value that an error offers: for the tool whose error it was, and for the argument
// that the error mentions.
func offerAffinity(w want, e entry) int {
	own := w.own(e)
	speaks := has(w.words, e.key)
	switch {
	case own && speaks:
		return 12
	case own && w.sole:
		return 10
	case own:
		return 5
	case speaks && has(meaning(slices.Clone(w.words)), e.key):
		return 4
	}
	return 0
}

// own reports whether a value came from the tool that asks for it.
func (w want) own(e entry) bool { return strings.HasSuffix(e.from, " "+w.tool) && w.tool != "" }

// nameAffinity compares the name of a place with the name that a value had.
func nameAffinity(w want, e entry) int {
	if len(w.words) == 0 {
		return 0
	}
	if len(e.key) == 0 {
		return looseAffinity(w, e)
	}
	key, last := e.key[len(e.key)-1], w.words[len(w.words)-1]
	switch {
	case slices.Equal(w.words, e.key) && (len(w.words) > 1 || !empty[key]):
		return 5
	case key == last, idWords[key] && idWords[last], !idWords[key] && slices.Contains(w.words, key):
		return likely
	case slices.Contains(w.description, key) && has(w.description, e.about):
		return likely
	case has(w.words, e.about) && (idWords[key] || key == "name"):
		return 2
	}
	return 0
}

// looseAffinity rates a value from running text.
func looseAffinity(w want, e entry) int {
	switch {
	case (e.kind == id || e.kind == uuid) && idWords[w.words[len(w.words)-1]]:
		return likely
	case has(w.words, e.about):
		return 2
	}
	return 0
}

var idWords = words("id identifier key ref uuid guid number no num code slug handle")

// want describes a place to the pool.
func (f *Form) want(n *node) want {
	about := slices.Clone(f.about)
	for step := range strings.SplitSeq(n.at, "/") {
		about = append(about, split(step)...)
	}
	words := split(n.name)
	pointing := f.pointing(n)
	return want{
		name: n.name, words: singular(words), about: meaning(singular(about)), description: singular(nouns(said(n))),
		tool: f.options.About, options: f.options, path: f.isPath(n), directory: f.isDirectory(n),
		uri: pointing == "uri" || pointing == "url" || pointing == "email", number: n.kind == "integer" || n.kind == "number",
		sole: f.sole, program: isProgram(n), bare: isBare(n) || f.relative(n), takes: f.takesAway(n), settled: len(proposed(n)) > 0,
	}
}

// subject returns the words of a source that say what it is about.
func subject(source string) []string { return meaning(singular(split(source))) }

// meaning leaves out words that are common in the names of tools.
func meaning(words []string) []string {
	return slices.DeleteFunc(words, func(word string) bool { return empty[word] || len(word) < 2 })
}

var empty = words("tool prompt resource template list get read fetch show find search query all by of the to for with in on and or is a an " +
	"create add new write save insert put set delete remove update edit open close start stop run name id key value text data item result " +
	"args argument input output required optional if from at it this that")

// nouns returns the words of a sentence, in lower case.
func nouns(text string) []string {
	found := lists.Of(lists.Spell(head(text, 1024)))
	return found[:min(len(found), maxWords)]
}

// singular returns the singular of regular English plurals.
func singular(words []string) []string {
	out := make([]string, 0, len(words))
	for _, word := range words {
		switch {
		case len(word) > 4 && strings.HasSuffix(word, "ies"):
			word = word[:len(word)-3] + "y"
		case len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us"):
			word = word[:len(word)-1]
		}
		out = append(out, word)
	}
	return out
}
