package inputs

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// An example in a description is the likeliest value: as a whole, as the items of a list, or
// as the keys of a map.

var (
	// restOf matches "for example" up to the end of its line.
	restOf = lazyregexp.New(`(?i)(?:e\.g\.|for example|for instance|such as|\bexamples?:)[,:]?\s+([^\n]{1,256})`)
	// sentenceEnd matches the end of an example.
	sentenceEnd = lazyregexp.New(`[.!?](?:\s|$)|;\s|\s\((?:or|default|optional|if|see)\b|,? or (?:an?|the)\b`)
	choice      = lazyregexp.New(`,?\s+or\s+`)
	identifier  = lazyregexp.New(`^[A-Za-z_][\w-]{0,31}$`)
)

// prosaic are words that begin a description of examples rather than an example.
var prosaic = words("the a an any your this that these those when if to in by one some its their his her what where which how")

// statements are words that begin a query.
var statements = words("SELECT INSERT UPDATE DELETE REPLACE CREATE WITH MATCH SHOW DESCRIBE EXPLAIN PRAGMA RETURN")

// wholeExamples returns the examples of a description that have several words. notation: they are
// not prose, so their first words are not examples by themselves.
func wholeExamples(description string) (found []string, notation bool) {
	for _, match := range restOf.FindAllStringSubmatch(description, 4) {
		rest := match[1]
		if at := sentenceEnd.FindStringIndex(rest); at != nil {
			rest = rest[:at[0]]
		}
		rest = strings.TrimRight(closed(rest), " .,;:")
		if first := choice.FindStringIndex(rest); first != nil {
			rest = rest[:first[0]]
		}
		all := strings.Fields(rest)
		if len(all) < 2 || prosaic[strings.ToLower(all[0])] && unicode.IsLetter(rune(all[1][0])) || strings.ContainsAny(rest[:1], "'\"`\u2018\u201c[") || enumerates(rest) {
			continue
		}
		found = append(found, rest)
		notation = notation || statements[all[0]] || strings.ContainsAny(strings.Join(all[1:], " "), "{}<>=*+/$|^%")
	}
	return found, notation
}

// closed returns a text up to an unmatched closing bracket.
func closed(text string) string {
	depth := 0
	for i, r := range text {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return text[:i]
			}
		}
	}
	return text
}

// enumerates reports whether a text is several single words between commas.
func enumerates(text string) bool {
	items := separators.Split(text, maxOffers)
	return len(items) > 1 && !slices.ContainsFunc(items, func(item string) bool { return strings.Contains(strings.TrimSpace(item), " ") })
}

// inherit gives the items of a list its description if they have none.
func (n *node) inherit(from *node) {
	if n.s["description"] == nil && from.s["description"] != nil && n.isLeaf() {
		n.s = maps.Clone(n.s)
		n.s["description"] = from.s["description"]
	}
}

// describedKey returns a key for a map: the first example in its description.
func describedKey(n *node) string {
	for _, word := range Offered(said(n)) {
		if identifier.MatchString(word) {
			return word
		}
	}
	return "note"
}

// undefined matches errors about a name without a value.
var undefined = lazyregexp.New(`(?i)(?:^|[\s:])(?:name |variable )?['"` + "`" + `]?([A-Za-z_]\w{0,31})['"` + "`" + `]? is (?:not defined|undefined|unbound)\b|` +
	`\b(?:unknown|undefined|missing|no|no value for|unbound) (?:variable|name|cell|key|placeholder)s?:? ['"` + "`" + `]?([A-Za-z_]\w{0,31})\b`)

// maxKeys bounds the keys of a map that errors teach.
const maxKeys = 8

// unnamedFile matches errors about files by name without a certain one: "files must contain an index.html".
var unnamedFile = lazyregexp.New(`(?i)\b(?:must|should|has to|have to|needs? to) (?:contain|include|have|provide|define)\b[^.\n]{0,32}?\s['"` + "`" + `]?([A-Za-z_][\w-]{0,31}\.[A-Za-z]{1,8})\b`)

// missKeys learns from an error, such as "name 'b' is not defined", which keys a map has to have.
func (f *Form) missKeys(text string) {
	matches := append(undefined.FindAllStringSubmatch(text, maxKeys), unnamedFile.FindAllStringSubmatch(text, maxKeys)...)
	for _, match := range matches {
		key := strings.Join(match[1:], "")
		for n := range f.tree.all() {
			if n.extra == nil {
				continue
			}
			if l := f.lesson(n.at); l != nil && !f.members[asWords(key)] && !slices.Contains(l.keys, key) && len(l.keys) < maxKeys {
				l.keys = append(slices.Clip(l.keys), key)
				f.require(n)
			}
		}
	}
}

// require has a place filled in from now on.
func (f *Form) require(n *node) {
	at, name := path.Split(n.at)
	f.learnTie(strings.TrimSuffix(at, "/"), need(condition{}, name))
	f.repair = true
}

// lacksEntries matches errors about an empty object.
var lacksEntries = lazyregexp.New(`(?i)\bnon-?empty\b|\b(?:must|may|can|should)(?: ?not|n't) be empty\b|\b(?:is|are|was) empty\b`)

// missEntries learns from an error, such as "settings must be a non-empty object", which object must not be empty.
func (f *Form) missEntries(text string) {
	if !lacksEntries.MatchString(text) {
		return
	}
	for each := range f.tree.properties() {
		if !each.node.open() || !speaksOf(text, each.name) {
			continue
		}
		if l := f.lesson(each.node.at); l != nil && len(l.keys) == 0 {
			l.keys = []string{describedKey(each.node)}
			f.require(each.node)
		}
	}
}

// open reports whether the schema of an object declares no properties and allows any.
func (n *node) open() bool {
	return n.kind == "object" && len(n.fields) == 0 && n.extra == nil && !n.end && n.s["additionalProperties"] != false
}

// shown returns the entries of the example in an object's description.
func shown(n *node) map[string]any {
	for _, document := range inJSON(said(n)) {
		var entries map[string]any
		if json.Unmarshal([]byte(document), &entries) == nil && len(entries) > 0 {
			return entries
		}
	}
	return nil
}

// keys returns the keys of a map: those that errors asked for, or one.
func (f *Form) keys(n *node) []string {
	if asked := f.taught(n).keys; asked != nil {
		return asked
	}
	key := describedKey(n)
	names, _ := n.s["propertyNames"].(map[string]any)
	if pattern, ok := names["pattern"].(string); ok {
		key = fitPattern(key, pattern)
	}
	return []string{key}
}

// Filled returns how much the arguments hold: the texts and numbers, less the empty lists
// and maps.
func (c Case) Filled() int { return len(c.placed) - hollow(Decode(c.Arguments)) }

func hollow(v any) (n int) {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			return 1
		}
		for _, item := range v {
			n += hollow(item)
		}
	case map[string]any:
		if len(v) == 0 {
			return 1
		}
		for _, value := range v {
			n += hollow(value)
		}
	}
	return n
}
