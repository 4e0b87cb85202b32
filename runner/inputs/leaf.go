package inputs

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// leaf holds the candidates for the text or number of one place.
type leaf struct {
	// own are the candidates of the schema itself.
	own        []candidate
	candidates []candidate
	// size of the pool when the candidates were collected; -1 before.
	size int
	// want describes the place to the pool; nil for places that take no harvested values.
	want  *want
	tried map[string]bool
	// stale: the candidates must be collected again.
	stale bool
	// best is the candidate of the last call that was accepted.
	best *candidate
}

// leaf makes a text or a number.
func (d *draft) leaf(n *node) any {
	value := d.text(n)
	d.placed = append(d.placed, placed{at: n.at, name: n.name, value: plain(value)})
	return value
}

func (d *draft) text(n *node) any {
	if loaded, ok := d.load(n); ok {
		return loaded
	}
	if outside, ok := d.escape(n); ok {
		return outside
	}
	c, ok := d.candidate(n)
	if !ok {
		return d.madeUp(n)
	}
	value := c.value
	if text, is := value.(string); is && !c.stands {
		value = d.place().relocate(text, d.form.pointing(n))
		if text == "/" && d.form.isPath(n) {
			value = d.form.options.files()
		}
	}
	d.trials = append(d.trials, trial{at: n.at, argument: n.name, candidate: c, moved: value != c.value})
	d.spend(len(canonical(value)))
	return value
}

// untried returns the first candidate, at a place or within it, that was never
// used.
func (d *draft) untried(n *node) (candidate, bool) {
	for place := range n.leaves() {
		known := d.form.leaf(place, d.pool)
		for _, c := range known.candidates {
			if !known.tried[c.key()] {
				return c, true
			}
		}
	}
	return candidate{}, false
}

func (d *draft) hasUntried(n *node) bool {
	_, ok := d.untried(n)
	return ok
}

func (n *node) isLeaf() bool {
	switch n.kind {
	case "object", "array", "null", "boolean":
		return false
	}
	return len(n.ways) == 0
}

// leaf returns the leaf of a place, with the pool's current candidates.
func (f *Form) leaf(n *node, pool *Pool) *leaf {
	known := f.leaves[n.at]
	if known == nil {
		known = &leaf{tried: map[string]bool{}, stale: true}
		f.leaves[n.at] = known
	}
	if known.stale {
		known.stale, known.size, known.own, known.want = false, -1, f.own(n), nil
		if len(f.leaves) <= maxHarvesters && !f.creates(n) && !f.names(n) && (!isProse(n) || f.taught(n).absent) && !f.ends(n) {
			want := f.want(n)
			known.want = &want
		}
	}
	if known.size != pool.Size() {
		known.size = pool.Size()
		known.candidates = f.fitting(n, f.collect(n, known, pool))
	}
	return known
}

var durationWords = []string{"duration", "delay", "timeout", "wait", "sleep", "interval", "seconds", "minutes", "ms"}

// maxHarvesters bounds the places of one schema where harvested values are tried.
const maxHarvesters = 64

// own returns the first steps of the ladder: what the schema proposes, and what
// its description offers.
func (f *Form) own(n *node) (found []candidate) {
	for _, v := range proposed(n) {
		found = append(found, candidate{value: v, source: ofSchema})
	}
	usual := f.paths(n)
	described, bare := f.relatives(n, usual)
	found = slices.Concat(f.asDescribed(n), found, described, usual, bare)
	if description := said(n); f.pointing(n) == "" && !f.isPath(n) {
		words := Offered(description)
		if n.kind == "string" {
			if all := inJSON(description); len(all) > 0 && ofJSON.MatchString(description) {
				words = all // what is in quotes is a part of them
			} else if plain := plainJSON(n.name, description); plain != "" {
				words = append(words, plain)
			} else if f.taught(n).json {
				words = append(words, anObject, aList)
			}
		}
		found = append(found, f.values(words, n.name, candidate{source: ofDescription})...)
	}
	if len(found) == 0 && f.leads(n) {
		found = f.values(Offered(f.options.Said), "", candidate{source: "the description of the tool", guess: true})
	}
	return found
}

// leads reports whether examples in the tool's own description may be for a place: the only one, or the first required text.
func (f *Form) leads(n *node) bool {
	if n.kind != "string" || isProgram(n) || f.isPath(n) || f.pointing(n) != "" || f.settled(n) {
		return false
	}
	for _, each := range f.outermost() {
		if each.required && each.node.textual() {
			return each.node.at == n.at
		}
	}
	return f.sole
}

// values returns the offered words that can be values of an argument, as candidates of a kind.
func (f *Form) values(words []string, argument string, as candidate) (found []candidate) {
	for _, word := range words {
		if !f.mentions(word, argument) {
			as.value = word
			found = append(found, as)
		}
	}
	return found
}

// mentions reports whether an offered word is the name of a property or of a tool, instead of a value
// for an argument.
func (f *Form) mentions(word, argument string) bool {
	word = strings.TrimSuffix(word, "()") // "use find_organizations() first"
	return f.members[asWords(word)] || f.options.Tools[word] && !has(split(argument), []string{"tool", "tools"})
}

// collect returns the candidates in the order of the ladder: those of the schema itself, of
// errors, and of the pool.
func (f *Form) collect(n *node, known *leaf, pool *Pool) []candidate {
	found := slices.Clone(known.own)
	if known.want == nil {
		return found
	}
	found = append(found, f.template.offers(pool, n.name)...)
	most := maxCandidates
	if known.want.path {
		most /= 2 // files are much alike
	}
	for _, c := range pool.offers(*known.want, most) {
		if text, is := c.value.(string); is && f.mentions(text, n.name) {
			continue
		}
		c.guess = has(split(n.name), urlWords) || f.settled(n)
		found = append(found, c)
	}
	if words := split(n.name); len(words) > 0 && idWords[words[len(words)-1]] {
		found = append(found, candidate{value: "1", guess: true})
	}
	if f.relative(n) {
		slices.SortStableFunc(found, func(a, b candidate) int { return rooted(a) - rooted(b) })
	}
	return found
}

// fitting returns the candidates that fit the schema, numbers as numbers.
func (f *Form) fitting(n *node, candidates []candidate) []candidate {
	var kept []candidate
	known := map[string]int{}
	c, s := checker{resolver: resolver{root: f.root, allowance: budget}, short: no}, f.amended(n)
	for _, each := range candidates {
		if text, is := each.value.(string); is && (n.kind == "integer" || n.kind == "number") {
			if !isNumber(text) {
				continue
			}
			each.value = json.Number(text)
		}
		if number, is := each.value.(json.Number); is && n.kind == "string" {
			each.value = number.String()
		}
		text, key := canonical(each.value), each.key()
		if at, again := known[key]; again {
			kept[at].records = join(kept[at].records, each.records)
			continue
		}
		shown := each.source == ofDescription || each.source == ofSchema
		if len(text) > maxLength || isProgram(n) && baring(text, shown) || f.taught(n).refuses(each.value) || c.check(s, each.value, 0) == no {
			continue
		}
		known[key] = len(kept)
		kept = append(kept, each)
	}
	return kept
}

func isNumber(text string) bool {
	number, ok := Decode([]byte(text)).(json.Number)
	return ok && number.String() == text && len(text) <= 20
}

// proposed returns the texts and numbers that the schema names: the default and the
// examples; none for durations, whose default applies when they are left out.
func proposed(n *node) []any {
	if n.kind != "string" && has(split(n.name), durationWords) {
		return nil
	}
	var values []any
	for _, v := range append([]any{n.s["default"], n.s["example"]}, list(n.s["examples"], 8)...) {
		switch v.(type) {
		case string, json.Number:
			if v != "" {
				values = append(values, v)
			}
		}
	}
	return values
}

// madeUp returns a value made up by format, name and type.
func (d *draft) madeUp(n *node) any {
	switch n.kind {
	case "integer":
		return number(n.s, n.name, true)
	case "number":
		return number(n.s, n.name, false)
	}
	text := d.fit(d.form.amended(n), d.plausible(n))
	if d.form.taught(n).letters && text == d.mark.ID() {
		text = d.mark.Name()
	}
	d.spend(len(text))
	return text
}

// fit adapts a text to the pattern and the lengths, with its mark if there is room.
func (d *draft) fit(s map[string]any, text string) string {
	most, limited := integer(s["maxLength"])
	for _, shorter := range []string{d.mark.Text(), d.mark.ID(), d.mark.label()} {
		if !limited || utf8.RuneCountInString(text) <= most {
			break
		}
		if len(shorter) < len(text) {
			text = shorter
		}
	}
	if pattern, ok := s["pattern"].(string); ok {
		for _, each := range []string{text, d.mark.ID(), d.mark.label(), strings.ToUpper(d.mark.ID())} {
			if text = fitPattern(each, pattern); text == each {
				break
			}
		}
	}
	least, _ := integer(s["minLength"])
	if missing := least - utf8.RuneCountInString(text); missing > 0 {
		text += strings.Repeat("x", missing)
	}
	if limited && utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most])
	}
	return text
}

// number picks a small number that the bounds allow.
func number(s map[string]any, name string, whole bool) any {
	low, high := bounds(s, whole)
	v := math.Min(math.Max(numberHint(name), low), high)
	if multiple, ok := float(s["multipleOf"]); ok && multiple > 0 {
		if up := math.Ceil(v/multiple) * multiple; up <= high {
			v = up
		}
	}
	if whole {
		if v = math.Ceil(v); v > high {
			v = math.Floor(high)
		}
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 1
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return int64(v)
	}
	return v
}

// bounds returns the least and the greatest allowed number; it moves exclusive bounds
// by 1 or, where fractions are allowed, by a half.
func bounds(s map[string]any, whole bool) (low, high float64) {
	step := 1.0
	if !whole {
		step = 0.5
	}
	low, high = math.Inf(-1), math.Inf(1)
	if n, ok := float(s["minimum"]); ok {
		low = n
	}
	if n, ok := float(s["exclusiveMinimum"]); ok {
		low = math.Max(low, n+step)
	}
	if n, ok := float(s["maximum"]); ok {
		high = n
	}
	if n, ok := float(s["exclusiveMaximum"]); ok {
		high = math.Min(high, n-step)
	}
	if low > high { // closer together than a step
		low, high = (low+high)/2, (low+high)/2
	}
	return low, high
}
