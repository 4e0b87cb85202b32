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
	known   map[string]int // where an entry is; -1 for one that was refused
	alike   map[string]int
	objects int // how many were gone through
	// calls are the last ones that were accepted of the tools that make something.
	calls []made
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
	// records are the objects that it was found in: values of one belong together.
	records []int
}

// maxRecords is how many objects are remembered of a value.
const maxRecords = 16

// NewPool is empty.
func NewPool() *Pool {
	return &Pool{known: map[string]int{}, alike: map[string]int{}}
}

// Result takes the result of a call, a resource or a prompt.
func (p *Pool) Result(source string, raw json.RawMessage) {
	h := harvest{pool: p, from: source, source: how("the result of ", source), allowance: maxHarvest}
	h.json(raw, nil, subject(source))
}

// how says how a source named something; one that says so itself is left alone.
func how(by, source string) string {
	if strings.HasPrefix(source, "the ") {
		return source
	}
	return by + source
}

// Error takes the text of the error that a call was answered with: mostly the values that it
// offers instead.
func (p *Pool) Error(source, text string, c Case) {
	text = worded(head(text, maxHarvest))
	mentioned := singular(nouns(text))
	offered := c.offered(text)
	if numeric.MatchString(text) {
		offered = append([]string{"1"}, offered...)
	}
	for _, value := range offered {
		p.add(entry{value: value, kind: kindOf(value), key: mentioned, about: subject(source), from: source,
			source: "an error of " + source, offered: true})
	}
	h := harvest{pool: p, from: source, source: "an error of " + source, allowance: maxHarvest, unmarked: true, echoes: c.echoes(unescaped(text))}
	h.text(unescaped(text), nil, subject(source))
}

// Taken takes the arguments of a call that was accepted: what was created with
// them can be asked for. Those that carry no mark name nothing new.
func (p *Pool) Taken(source string, arguments json.RawMessage) {
	if !has(split(source), createWords) {
		return
	}
	h := harvest{pool: p, from: source, source: "the arguments of " + source, allowance: maxHarvest, marked: true}
	h.json(arguments, nil, subject(source))
	p.keep(source, arguments)
}

// Description takes what is said about a tool, or by the server about itself.
func (p *Pool) Description(source, text string) {
	h := harvest{pool: p, from: source, source: "the description of " + source, allowance: maxHarvest}
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

// Size returns how many values it has. It grows when something new was learned, and
// ends at 2048.
func (p *Pool) Size() int {
	if p == nil {
		return 0
	}
	return len(p.entries)
}

func join(records, more []int) []int {
	for _, record := range more {
		if len(records) < maxRecords && !slices.Contains(records, record) {
			records = append(slices.Clip(records), record)
		}
	}
	return records
}

func (p *Pool) add(e entry) {
	if e.value == "" || HoldsInjection(e.value) || len(e.value) > maxValue || e.kind == prose || len(p.entries) >= maxEntries {
		return
	}
	under := e.source + "\x00" + e.argument
	if len(e.key) > 0 && !e.offered {
		under += "\x00" + e.key[len(e.key)-1]
	}
	id := e.value + "\x00" + strings.Join(e.key, " ")
	if at, known := p.known[id]; known {
		if at >= 0 {
			p.entries[at].records = join(p.entries[at].records, e.records)
		}
		return
	}
	if p.alike[under] >= maxAlike {
		return
	}
	if p.Refuse != nil && p.Refuse(e.value) {
		p.known[id] = -1
		p.alike[under]++
		return
	}
	p.known[id] = len(p.entries)
	p.alike[under]++
	p.entries = append(p.entries, e)
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
		if score := affinity(w, e); score >= likely {
			found = append(found, scored{e, score})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return b.score - a.score })
	var candidates []candidate
	for _, s := range found[:min(len(found), most)] {
		candidates = append(candidates, candidate{value: s.value, source: s.source, records: s.records})
	}
	return candidates
}
