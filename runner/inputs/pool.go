package inputs

import (
	"encoding/json"
	"slices"
	"strings"
)

// The bounds of a pool.
const (
	maxEntries = 2048
	maxAlike   = 24        // values of one source under the same name
	maxValue   = 256       // bytes
	maxWords   = 32        // of a value, and of its description
	maxHarvest = 256 << 10 // bytes of one result or description
	maxText    = 32 << 10  // bytes of one that is not JSON
)

// Pool collects values that a server names, for later arguments. Its input is
// untrusted; it keeps a bounded number of short values. A source is the capability
// that named one: "tool list_tickets". One pool serves all forms of a session, one
// at a time.
type Pool struct {
	// Refuse, when set, reports whether a value must not be used, such as a secret
	// that one tool has shown and another would seem to leak.
	Refuse func(value string) bool

	entries []entry
	known   map[string]int // where an entry is; -1 for one that was refused
	alike   map[string]int
	objects int // that were searched
	// calls are the last accepted ones of tools that create something.
	calls []made
}

// entry is a value, and the words by which it is matched with parameters.
type entry struct {
	value string
	kind  kind
	// key are the words of its name, about those of the objects around it.
	key, about []string
	// from is the capability that named it, source the text: "the result of tool list_tickets".
	from, source string
	// offered: by an error; argument: for this argument alone.
	offered  bool
	argument string
	// records are the objects that contained it: values of one belong together.
	records []int
}

const maxRecords = 16 // of one value

// NewPool makes an empty pool.
func NewPool() *Pool {
	return &Pool{known: map[string]int{}, alike: map[string]int{}}
}

// Result harvests the result of a call, a resource or a prompt.
func (p *Pool) Result(source string, raw json.RawMessage) {
	h := harvest{pool: p, from: source, source: "the result of " + source, allowance: maxHarvest}
	h.json(raw, nil, subject(source))
}

// Error harvests the error of a call, first the values that it offers instead.
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

// Taken harvests the arguments of an accepted call, because other tools can ask for what it created. Only those with
// a mark name something new.
func (p *Pool) Taken(source string, arguments json.RawMessage) {
	if !has(split(source), createWords) {
		return
	}
	h := harvest{pool: p, from: source, source: "the arguments of " + source, allowance: maxHarvest, marked: true}
	h.json(arguments, nil, subject(source))
	p.keep(source, arguments)
}

// Description harvests the description of a tool or of the server. The names of its parameters are no values.
func (p *Pool) Description(source, text string, parameters ...string) {
	h := harvest{pool: p, from: source, source: "the description of " + source, allowance: maxHarvest, parameters: parameters}
	h.text(head(text, maxHarvest), nil, subject(source))
}

// Offer takes values for one argument. The source is their text: "the
// completion of prompt greet".
func (p *Pool) Offer(source, argument string, values []string) {
	for _, value := range values[:min(len(values), maxAlike)] {
		p.add(entry{value: value, kind: kindOf(value), key: singular(split(argument)), argument: argument, from: source,
			source: source})
	}
}

// Size returns the number of values, which grows with each new one up to 2048.
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

func (p *Pool) refuses(value string) bool { return p != nil && p.Refuse != nil && p.Refuse(value) }

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
	if p.refuses(e.value) {
		p.known[id] = -1
		p.alike[under]++
		return
	}
	p.known[id] = len(p.entries)
	p.alike[under]++
	p.entries = append(p.entries, e)
}

// offers returns the values for a place, the likeliest first and, among equals, in the
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
