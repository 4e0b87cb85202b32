package inputs

import (
	"maps"
	"math/rand/v2"
	"strconv"
)

// draft builds one set of arguments.
type draft struct {
	form  *Form
	pool  *Pool
	mark  Mark
	shape Shape
	// aim is the branch to take, -1 for none; only is the property of
	// ShapeOne.
	aim  int
	only string
	// loaded: a text of ShapeInjection has the injection.
	loaded bool
	// outside is the prefix of the paths of ShapeOutside; escaped: there is one.
	outside string
	escaped bool
	// lead are the objects that contained the value that a call of ShapeHarvested
	// tries.
	lead []int
	// made is the call that this one follows; nil for none.
	made *made
	// repairs is the call that this one repairs; nil for none.
	repairs *refusal
	// random, if set, makes the choices that aim leaves open.
	random *rand.Rand

	allowance
	// arguments are the result.
	arguments map[string]any
	taken     set
	// trials are the values that were not made up, placed are all values.
	trials []trial
	placed []placed
}

// trial is a candidate at one place.
type trial struct {
	at, argument string
	candidate    candidate
	moved        bool // it led elsewhere, and is not what is handed in
}

// fresh counts the reachable branches that neither an earlier case nor this one has taken.
func (d *draft) fresh(s set) int {
	return s.and(d.form.reachable).without(d.form.sent).without(d.taken).len()
}

// aims reports whether the set has the branch to take.
func (d *draft) aims(s set) bool { return d.aim >= 0 && !d.taken.has(d.aim) && s.has(d.aim) }

func (d *draft) value(n *node, depth int) any {
	if n == nil || depth > 2*maxDepth || !d.spend(16) {
		return nil
	}
	if len(n.ways) > 0 {
		w := n.ways[d.choose(n)]
		d.taken.add(w.branch)
		if w.node != nil {
			return d.value(w.node, depth+1)
		}
		if !d.spend(len(canonical(w.value))) {
			return nil
		}
		return w.value
	}
	switch n.kind {
	case "object":
		return d.object(n, depth)
	case "array":
		return d.array(n, depth)
	case "null":
		return nil
	default:
		return d.leaf(n)
	}
}

// choose returns the way to the branch to take, or the most promising one: with new
// branches, then one that was accepted before.
func (d *draft) choose(n *node) int {
	best, most := 0, -1<<30
	preferred := ""
	if v, ok := n.s["default"]; ok {
		preferred = canonical(v)
	}
	start := int(uint64(d.mark.Seed) % uint64(len(n.ways)))
	for i := range n.ways {
		i = (start + i) % len(n.ways)
		w := n.ways[i]
		if score := d.score(w, preferred); score > most {
			best, most = i, score
		}
	}
	return best
}

func (d *draft) score(w way, preferred string) (score int) {
	below := only(w.branch)
	isNull := w.value == nil
	if w.node != nil {
		below.join(w.node.below)
		isNull = w.node.kind == "null"
	}
	switch {
	case d.aims(below):
		score += 1 << 20
	case d.random != nil:
		return d.random.IntN(1 << 10)
	}
	if d.shape == ShapeHarvested && w.node != nil && d.hasUntried(w.node) {
		score += 1 << 12
	}
	if d.repairs != nil && d.repairs.taken.has(w.branch) {
		score += 1 << 13
	}
	score += 8 * d.fresh(below)
	if d.form.accepted.has(w.branch) {
		score += 4
	}
	if w.node == nil && canonical(w.value) == preferred {
		score += 2
	}
	if isNull {
		score--
	}
	if w.branch >= 0 && !d.form.reachable.has(w.branch) {
		score -= 1 << 16
	}
	return score
}

func (d *draft) object(n *node, depth int) any {
	out, forced, ties := map[string]any{}, map[string]bool{}, d.form.ties(n)
	most, limited := integer(n.s["maxProperties"])
	fields := d.ranked(n, ties)
	for range 4 { // an added property can require another
		for _, f := range fields {
			if _, done := out[f.name]; done || limited && !f.required && len(out) >= most {
				continue
			}
			if (forced[f.name] || d.include(n, f) && !d.barred(n, f, ties, out)) && d.spend(16+len(f.name)) {
				out[f.name] = d.property(f, depth)
				d.taken.add(f.present)
			}
		}
		if !d.depend(n, ties, out, forced) {
			break
		}
	}
	for _, f := range n.fields {
		if _, given := out[f.name]; !given {
			d.taken.add(f.absent)
		}
	}
	d.entries(n, out, depth)
	if depth == 0 {
		maps.Copy(out, d.form.given)
	}
	return out
}

// depend forces the properties that constraints ask for, and enough for minProperties.
func (d *draft) depend(n *node, ties []tie, out map[string]any, forced map[string]bool) (more bool) {
	force := func(name string) {
		if _, done := out[name]; !done && !forced[name] {
			forced[name], more = true, true
		}
	}
	for _, t := range ties {
		for _, name := range d.missing(n, t, ties, out) {
			force(name)
		}
	}
	if least, _ := integer(n.s["minProperties"]); len(out) < least {
		for _, f := range n.fields {
			if _, done := out[f.name]; !done {
				force(f.name)
				break
			}
		}
	}
	return more
}

func (d *draft) property(f field, depth int) any {
	if depth == 0 {
		if value, ok := d.form.given[f.name]; ok {
			return value
		}
	}
	return d.value(f.node, depth+1)
}

// include reports whether a property is given.
func (d *draft) include(n *node, f field) bool {
	switch {
	case f.required, d.insists(n, f):
		return true
	case d.aim >= 0 && d.aim == f.absent:
		return false
	case d.random != nil:
		return d.random.IntN(2) == 0
	}
	return d.wants(f)
}

// wants reports whether the shape gives an optional property.
func (d *draft) wants(f field) bool {
	switch d.shape {
	case ShapeHarvested:
		return d.hasUntried(f.node)
	case ShapeInjection: // what is required will do, if that has a text
		return f.node.textual() && !d.form.requiresText
	case ShapeOutside:
		return d.form.hasPath(f.node)
	case ShapeAll:
		return d.fresh(f.here()) > 0 || !d.form.reachable.has(f.absent) || d.form.sent.has(f.absent) || d.aim < 0
	}
	return false
}

// array makes the fewest items that are allowed, but at least one if it may, and
// more while each takes a new branch.
func (d *draft) array(n *node, depth int) any {
	out := []any{}
	least, most, ok := d.lengths(n)
	if !ok {
		d.taken.add(n.empty)
		return out
	}
	d.taken.add(n.filled)
	for i := 0; i < most && d.spend(16); i++ {
		item := n.items
		if i < len(n.prefix) {
			item = n.prefix[i]
		}
		if i >= least && i >= max(1, len(n.prefix)) && (i >= 4 || item == nil || d.fresh(item.below) == 0) {
			break
		}
		v := d.value(item, depth+1)
		if text, ok := v.(string); ok && i > 0 && n.s["uniqueItems"] == true && (item == nil || len(item.ways) == 0) {
			v = text + strconv.Itoa(i+1)
		}
		out = append(out, v)
	}
	return out
}

// lengths returns the least and the greatest number of items; false for an empty array.
func (d *draft) lengths(n *node) (least, most int, ok bool) {
	s := d.form.amended(n)
	least, _ = integer(s["minItems"])
	least, most = min(least, maxItems), maxItems
	if limit, limited := integer(s["maxItems"]); limited {
		most = min(most, limit)
	}
	if n.items == nil && n.s["items"] == false {
		most = min(most, len(n.prefix))
	}
	filled := n.below.without(only(n.empty))
	switch {
	case least > 0:
		return least, max(least, most), true
	case most == 0, d.aim >= 0 && d.aim == n.empty, len(n.prefix) == 0 && (n.items == nil || n.items.end):
		return 0, 0, false
	case d.aims(filled), d.shape == ShapeHarvested, d.shape == ShapeInjection, d.shape == ShapeOutside:
		return 0, most, true
	case d.random != nil:
		return 0, most, d.random.IntN(2) == 0
	}
	return 0, most, d.fresh(filled) > 0 || d.fresh(only(n.empty)) == 0
}

// entries adds entries to a map, and to an object whose schema declares no properties.
func (d *draft) entries(n *node, out map[string]any, depth int) {
	open := depth > 0 && n.open()
	switch {
	case n.extra == nil && !open:
		return
	case depth > maxDepth || !d.hasEntry(n, len(out)) && (operator(n) == "" || d.aim >= 0 && d.aim == n.empty):
		d.taken.add(n.empty)
		return
	}
	d.taken.add(n.filled)
	if name := operator(n); name != "" {
		out[name] = operand(name, d.mark)
		return
	}
	if entries := shown(n); open && entries != nil {
		maps.Copy(out, entries)
		return
	}
	for _, key := range d.form.keys(n) {
		if n.extra == nil {
			out[key] = d.mark.Text()
		} else {
			out[key] = d.value(n.extra, depth+1)
		}
	}
}

// hasEntry reports whether a map that has some entries gets one more.
func (d *draft) hasEntry(n *node, entries int) bool {
	filled := only(n.filled)
	if n.extra != nil {
		filled.join(n.extra.below)
	}
	least, _ := integer(n.s["minProperties"])
	most, limited := integer(n.s["maxProperties"])
	switch {
	case d.aim >= 0 && d.aim == n.empty, limited && most <= entries:
		return false
	case least > entries, d.aims(filled), d.form.taught(n).keys != nil, n.open() && shown(n) != nil:
		return true
	case d.random != nil:
		return d.random.IntN(2) == 0
	}
	return d.fresh(filled) > 0 || d.shape == ShapeAll && d.fresh(only(n.empty)) == 0
}
