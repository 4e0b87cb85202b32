package inputs

import "slices"

// candidate is a value with a source, which follows "from" in a sentence.
type candidate struct {
	value  any // a string, or a json.Number
	source string
	// guess: made-up values come first, and again when this one was accepted.
	guess bool
	// stands: it is not relocated, wherever it leads.
	stands bool
	// records are the objects of a result that contained it.
	records []int
}

// The sources of a candidate in the server's own texts about its place.
const (
	ofSchema      = "its schema"
	ofDescription = "its description"
)

// key identifies a candidate.
func (c candidate) key() string {
	if c.stands {
		return "as it stands " + canonical(c.value)
	}
	return canonical(c.value)
}

// maxCandidates bounds the values named by the server that are tried in one place.
const maxCandidates = 12

// candidate returns a value for a place: an untried one when the call is to try
// one, the one that was accepted before, or any.
func (d *draft) candidate(n *node) (candidate, bool) {
	known := d.form.leaf(n, d.pool)
	harvested := d.shape == ShapeHarvested
	if c, ok := d.known(n, known); ok || d.repairs.keeps(n.at) {
		return c, ok
	}
	if c, ok := d.companion(n, known); ok {
		return c, true
	}
	for _, c := range known.candidates {
		if !known.tried[c.key()] && d.likely(n, c) {
			return c, true
		}
	}
	if known.best != nil {
		return *known.best, true
	}
	if i := len(known.candidates); i > 0 && harvested {
		return known.candidates[d.mark.Call%i], true
	}
	if len(known.own) > 0 && d.form.isPath(n) && !d.form.creates(n) {
		return known.own[0], true // a second missing path shows nothing more
	}
	return candidate{}, false
}

// likely reports whether an untried value is worth a call: it is not in the arguments yet, and
// a made-up value is no likelier.
func (d *draft) likely(n *node, c candidate) bool {
	guessed := c.guess && d.shape != ShapeHarvested && d.form.lessons[n.at] == nil
	return !guessed && !d.trying(n, c) && !d.holds(n, c)
}

// known returns the value that a place had in an accepted call, or that an error asked for.
func (d *draft) known(n *node, known *leaf) (candidate, bool) {
	if c, ok := d.follow(n); ok {
		return c, true
	}
	if d.shape == ShapeHarvested {
		return candidate{}, false
	}
	if c, ok := d.offer(n); ok {
		return c, true
	}
	if d.repairs.keeps(n.at) {
		was := d.repairs.values[n.at]
		return was, was.value != nil
	}
	if known.best != nil {
		return *known.best, true
	}
	return candidate{}, false
}

// offer returns what the last error offered for a place.
func (d *draft) offer(n *node) (candidate, bool) {
	if d.form.isPath(n) || d.form.ends(n) {
		return candidate{}, false
	}
	var offers []candidate
	for _, value := range d.form.taught(n).offers {
		if !d.pool.refuses(value) {
			offers = append(offers, candidate{value: value, source: "its error"})
		}
	}
	for _, c := range d.form.fitting(n, offers) {
		return c, true
	}
	return candidate{}, false
}

// holds reports whether another place of the arguments has the same path, so that an error with
// it would be ambiguous.
func (d *draft) holds(n *node, c candidate) bool {
	return d.form.isPath(n) && slices.ContainsFunc(d.placed, func(p placed) bool { return p.at != n.at && p.value == c.value })
}

// companion returns a candidate from the object that contained the leading value of
// this call, or from the object around that: an owner belongs to its repository.
func (d *draft) companion(n *node, known *leaf) (candidate, bool) {
	for _, record := range d.lead {
		best, found := candidate{}, false
		for _, c := range known.candidates {
			if !slices.Contains(c.records, record) || d.trying(n, c) {
				continue
			}
			if !known.tried[c.key()] {
				return c, true
			}
			if !found {
				best, found = c, true
			}
		}
		if found {
			return best, true
		}
	}
	return candidate{}, false
}

func (d *draft) trying(n *node, c candidate) bool {
	return slices.ContainsFunc(d.trials, func(t trial) bool { return t.at == n.at && t.candidate.value == c.value })
}
