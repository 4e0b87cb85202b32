package inputs

import (
	"encoding/json"
	"slices"
	"strings"
)

// The bounds of a pool.
const (
	// maxEntries is how many values a pool has, maxAlike how many of them one
	// source gave under the same name.
	maxEntries = 2048
	maxAlike   = 24
	// maxValue is the length of a value in bytes, maxWords the number of words in
	// it and in what it is described by.
	maxValue = 256
	maxWords = 32
	// maxHarvest is how much of one result or description is read, in bytes.
	// maxText is how much of it where it is no JSON.
	maxHarvest = 256 << 10
	maxText    = 32 << 10
)

// Pool collects what a server names, for arguments to come. What it is told of is
// untrusted; it keeps no more than a bounded number of short values. A source says
// whom it is from: "tool list_tickets". One pool serves all forms of a session, one
// at a time.
type Pool struct {
	// Refuse, when set, tells of values that are not to be taken: a secret that a
	// server was asked for and has shown would come back from another as its leak.
	Refuse func(value string) bool

	entries []entry
	known   map[string]bool
	alike   map[string]int
}

// entry is a value, and the words by which it is matched with parameters.
type entry struct {
	value string
	kind  kind
	// key are the words that it stood under, about those of what it was part of.
	key, about []string
	// from is who named it, source how: "the result of tool list_tickets".
	from, source string
	// offered: by an error; argument: for this argument alone.
	offered  bool
	argument string
}

// NewPool is empty.
func NewPool() *Pool { return &Pool{known: map[string]bool{}, alike: map[string]int{}} }

// Result takes the result of a call, a resource or a prompt.
func (p *Pool) Result(source string, raw json.RawMessage) {
	h := harvest{pool: p, from: source, source: how("the result of ", source), budget: maxHarvest}
	h.json(raw, nil, subject(source))
}

// how says how a source named something; one that says so itself is left alone.
func how(by, source string) string {
	if strings.HasPrefix(source, "the ") {
		return source
	}
	return by + source
}

// Error takes the text of an error: mostly the values that it offers instead.
func (p *Pool) Error(source, text string) {
	text = head(text, maxHarvest)
	mentioned := singular(nouns(text, maxWords))
	for _, value := range named(text) {
		if echo(value) {
			continue
		}
		p.add(entry{value: value, kind: kindOf(value), key: mentioned, about: subject(source), from: source,
			source: "an error of " + source, offered: true})
	}
	h := harvest{pool: p, from: source, source: "an error of " + source, budget: maxHarvest}
	h.text(text, nil, subject(source))
}

// Taken takes the arguments of a call that was accepted: what was created with
// them can be asked for. Those that carry no mark name nothing new.
func (p *Pool) Taken(source string, arguments json.RawMessage) {
	if !has(split(source), createWords) {
		return
	}
	h := harvest{pool: p, from: source, source: "the arguments of " + source, budget: maxHarvest, marked: true}
	h.json(arguments, nil, subject(source))
}

// Description takes what is said about a tool, or by the server about itself.
func (p *Pool) Description(source, text string) {
	h := harvest{pool: p, from: source, source: "the description of " + source, budget: maxHarvest}
	h.text(head(text, maxHarvest), nil, subject(source))
}

// Offer takes values that are offered for one argument. Its source says how: "the
// completion of prompt greet".
func (p *Pool) Offer(source, argument string, values []string) {
	for _, value := range values[:min(len(values), maxAlike)] {
		p.add(entry{value: value, kind: kindOf(value), key: singular(split(argument)), argument: argument, from: source,
			source: source})
	}
}

// Size is how many values it has. It grows when something new was learned, and
// ends at 2048.
func (p *Pool) Size() int {
	if p == nil {
		return 0
	}
	return len(p.entries)
}

func (p *Pool) add(e entry) {
	if e.value == "" || len(e.value) > maxValue || e.kind == prose || len(p.entries) >= maxEntries {
		return
	}
	under := e.source + "\x00" + e.argument
	if len(e.key) > 0 && !e.offered {
		under += "\x00" + e.key[len(e.key)-1]
	}
	id := e.value + "\x00" + strings.Join(e.key, " ")
	if p.known[id] || p.alike[under] >= maxAlike {
		return
	}
	p.known[id] = true
	if p.Refuse != nil && p.Refuse(e.value) {
		return
	}
	p.alike[under]++
	p.entries = append(p.entries, e)
}

// want is a place that asks for a value.
type want struct {
	name string
	// words are those of the name, about those of the objects around it and of the
	// tool, description those of the description.
	words, about, description []string
	tool                      string
	dir                       Options
	path, directory           bool
	uri, whole                bool // whole: it is a number
	// sole: the tool has no other text or number to ask for.
	sole bool
}

// offers are the values for a place, the likeliest first and, among equals, in the
// order in which they were named.
func (p *Pool) offers(w want, most int) []candidate {
	if p == nil {
		return nil
	}
	type scored struct {
		entry
		score int
	}
	var found []scored
	for _, e := range p.entries {
		if score := affinity(w, e); score >= 3 {
			found = append(found, scored{e, score})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return b.score - a.score })
	var candidates []candidate
	for _, s := range found[:min(len(found), most)] {
		candidates = append(candidates, candidate{value: s.value, source: s.source})
	}
	return candidates
}

// affinity says how likely a value is meant for a place; below 3, not at all.
func affinity(w want, e entry) int {
	switch {
	case e.argument != "":
		if e.argument == w.name {
			return 20
		}
		return 0
	case w.whole && !isNumber(e.value), w.path != (e.kind == path_), w.path && !w.dir.within(e.value):
		return 0
	case w.uri != (e.kind == uri || e.kind == email):
		return 0
	case e.offered:
		return offerAffinity(w, e)
	}
	score := nameAffinity(w, e)
	if w.path || w.uri && e.kind == uri {
		score = max(score, 4)
	}
	if (score > 0 || e.kind == id) && (common2(w.words, e.about) || common2(w.about, e.about)) {
		score += 2
	}
	return score
}

// offerAffinity is that of a value that an error offers: to the tool whose error it
// was, and to the argument that it speaks of.
func offerAffinity(w want, e entry) int {
	own := strings.HasSuffix(e.from, " "+w.tool) && w.tool != ""
	speaks := common2(w.words, e.key)
	switch {
	case own && speaks:
		return 12
	case own && w.sole:
		return 10
	case own:
		return 5
	case speaks:
		return 4
	}
	return 0
}

func nameAffinity(w want, e entry) int {
	if len(w.words) == 0 {
		return 0
	}
	last := w.words[len(w.words)-1]
	switch {
	case len(e.key) == 0:
		if (e.kind == id || e.kind == uuid) && idWords[last] {
			return 3
		}
		if common2(w.words, e.about) {
			return 2
		}
		return 0
	case slices.Equal(w.words, e.key):
		return 5
	}
	key := e.key[len(e.key)-1]
	switch {
	case key == last:
		return 3
	case slices.Contains(w.words, key) && !idWords[key], idWords[key] && idWords[last]:
		return 3
	case common2(w.words, e.about) && (idWords[key] || key == "name"):
		return 2
	case slices.Contains(w.description, key) && common2(w.description, e.about):
		return 3
	}
	return 0
}

var idWords = words("id identifier key ref uuid guid number no num code slug handle")

func common2(a, b []string) bool {
	return slices.ContainsFunc(a, func(word string) bool { return slices.Contains(b, word) })
}

// want describes a place to the pool.
func (f *Form) want(n *node) want {
	description, _ := n.s["description"].(string)
	about := slices.Clone(f.about)
	for _, step := range strings.Split(n.at, "/") {
		about = append(about, split(step)...)
	}
	words := split(n.name)
	pointing := pointing(n)
	return want{
		name: n.name, words: singular(words), about: meaning(singular(about)), description: meaning(singular(nouns(description, maxWords))),
		tool: f.options.About, dir: f.options, path: f.isPath(n), directory: f.isDirectory(n),
		uri: pointing == "uri" || pointing == "url" || pointing == "email", whole: n.kind == "integer" || n.kind == "number",
		sole: f.sole,
	}
}

// subject are the words of a source that say what it is about.
func subject(source string) []string { return meaning(singular(split(source))) }

// meaning leaves out the words that stand in the names of all sorts of tools.
func meaning(words []string) []string {
	return slices.DeleteFunc(words, func(word string) bool { return empty[word] || len(word) < 2 })
}

var empty = words("tool prompt resource template list get read fetch show find search query all by of the to for with in on and or is a an " +
	"create add new write save insert put set delete remove update edit open close start stop run name id key value text data item result " +
	"args argument input output required optional if from at it this that")

// nouns are the words of a sentence, in lower case.
func nouns(text string, most int) []string {
	var found []string
	for _, word := range split2words(text) {
		if len(found) == most {
			break
		}
		found = append(found, word)
	}
	return found
}

func split2words(text string) (found []string) {
	for _, part := range strings.Fields(head(text, 1024)) {
		found = append(found, split(part)...)
	}
	return found
}

// singular turns plurals into what they are plurals of, as far as English lets it.
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
