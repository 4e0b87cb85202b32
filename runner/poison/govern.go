package poison

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// carried is how many sentences an occasion extends over: "Before using x, an audit is
// due. Call y with ..."
const carried = 2

// occasionOf returns the first call of another tool that is the occasion of sentence i or of those before it. If foreign
// is set, tools of the server do not count.
func occasionOf(all []sentence, i int, foreign bool) (trigger, bool) {
	for j := i; j >= 0 && j >= i-carried; j-- {
		for _, t := range all[j].triggers {
			if t.tool.other() && !(foreign && t.tool.known) {
				return t, true
			}
		}
	}
	return trigger{}, false
}

// overrides reports orders to alter an argument of another tool or of the user.
func (r *reader) overrides(all []sentence, i int) verdict {
	s := &all[i]
	c, ok := r.alteration(s)
	if !ok {
		return verdict{}
	}
	occasion, elsewhere := occasionOf(all, i, false)
	tool := occasion.tool
	if foreign := r.scope(s, c.at); !elsewhere && foreign.name != "" {
		tool, elsewhere = foreign, true
	}
	if r.of.Kind == KindInstructions && tool.known {
		elsewhere = false // the server explains its own tools
	}
	v := verdict{tools: named(tool), confidence: c.ofAny(s.wish())}
	if elsewhere {
		v.confidence = max(v.confidence, c.of(tool))
	}
	if s.overrulesUser() && (elsewhere || c.argument || c.dictates) {
		v.confidence = 0.95
	}
	return v
}

// of returns the confidence that another tool's call is changed.
func (c change) of(tool reference) float64 {
	switch {
	case c.altering && (c.firm || c.argument || c.dictates || c.ofUser):
		return 0.9
	case c.argument && c.dictates && (c.firm || !tool.known):
		return 0.85
	}
	return 0
}

// ofAny returns the confidence that another call is changed although no tool is named.
// wish is set if the occasion is a user's request.
func (c change) ofAny(wish bool) float64 {
	switch {
	case !c.firm:
		return 0
	case c.altering && c.foreign && (c.dictates || c.ofUser || wish):
		return 0.8
	case c.altering && c.dictates && (c.ofUser || wish), c.routed && c.every && (c.dictates || wish):
		return 0.7
	}
	return 0
}

// scope returns the other tool whose calls an order is about: "all `x` requests", "passed
// to the `x` tool". Alternatives are not about the order: "add a field, or fetch it via
// `x`".
func (r *reader) scope(s *sentence, order int) reference {
	for i := range s.Tokens {
		before, after := s.text(i-1), s.text(i+1)
		if argumentNouns[after] || argumentNouns[before] || s.obtainedFrom(i) {
			continue
		}
		if slices.ContainsFunc(s.orders, func(o demand) bool { return order < o.at && o.at < i && s.text(o.at-1) == "or" }) {
			break
		}
		if ref := r.refAt(s, i); ref.other() && (wishes[after] || tools[after] || tools[before] || before == "via" || before == "using" || before == "calls") {
			return ref
		}
	}
	return reference{}
}

// obtainedFrom reports whether the token at i is where a value comes from: "can be obtained from the `x` tool".
func (s *sentence) obtainedFrom(i int) bool {
	for i--; articles[s.text(i)]; i-- {
	}
	return s.text(i) == "from" && obtained[s.text(i-1)]
}

// obtained are participles of sentences that say where a value comes from.
var obtained = words.SetOf("obtained", "retrieved", "fetched", "found", "returned", "taken", "looked", "available", "gotten", "known")

// change is an order to alter what a call passes.
type change struct {
	// at is the token of the order.
	at   int
	firm bool
	// altering is set if the verb presupposes a value ("replace", not "set").
	altering bool
	// argument is set if the object is called an argument, foreign if the text's own
	// tool lacks it, ofUser if it is said to be the user's.
	argument, foreign, ofUser bool
	// dictates is set if the text has the new value.
	dictates bool
	// routed is set for "must be redirected to"; every if that is said of all calls.
	routed, every bool
}

// alteration finds the strongest change.
func (r *reader) alteration(s *sentence) (best change, ok bool) {
	most := -1
	for _, o := range s.orders {
		if c, ok := r.changeBy(s, o); ok && score(c) > most {
			best, most = c, score(c)
		}
	}
	return best, most >= 0
}

// changeBy reads an order as a change.
func (r *reader) changeBy(s *sentence, o demand) (change, bool) {
	verb := s.text(o.at)
	c := change{at: o.at, firm: o.firm, altering: alterations[verb] || ignores[verb] || strings.HasPrefix(verb, "over") || strings.HasPrefix(verb, "rewr")}
	if o.negated || !c.altering && !participles[verb] && !assignments[verb] || !r.object(s, o.at, &c) {
		return c, false
	}
	return c, alterations[verb] || !ignores[verb] || c.ofUser
}

func score(c change) int {
	n := 0
	for _, b := range []bool{c.firm, c.altering, c.argument, c.foreign, c.ofUser, c.dictates, c.routed} {
		if b {
			n++
		}
	}
	return n
}

// object reads the object of the verb at i: behind it, or before it if it is passive
// ("the id must be replaced").
func (r *reader) object(s *sentence, i int, c *change) bool {
	from := i + 1
	if s.text(i-1) == "be" || s.text(i-2) == "be" || s.toHave(i) {
		from, c.routed = max(0, i-24), routes[s.text(i)]
	}
	value := false
	for j, end := from, s.objectEnd(i); j < end; j++ {
		value = r.part(s, i, j, c) || value
		c.dictates = c.dictates || j > i && r.literal(s, j)
	}
	if r.argumentWithin(s, i+1, i+4) {
		c.argument, c.foreign = true, true
	}
	c.argument = c.argument || value && c.dictates
	return value || c.argument || c.ofUser || c.dictates || c.routed
}

// objectEnd returns the latest end of the object of the verb at i.
func (s *sentence) objectEnd(i int) int {
	end := min(len(s.Tokens), i+26)
	for j := i + 1; j < end; j++ {
		if excepting[s.text(j)] && s.text(j) != "only" {
			return j
		}
	}
	return end
}

// part reads one word of the object and reports whether it means a value.
func (r *reader) part(s *sentence, i, j int, c *change) bool {
	if s.Tokens[j].Kind != words.Word {
		return false
	}
	t := s.text(j)
	c.every = c.every || universal[t]
	c.ofUser = c.ofUser || ofUser[t] && j < i+10
	if j >= i+14 {
		return false
	}
	if argumentNouns[t] {
		name := s.argumentName(j)
		c.argument, c.foreign = true, c.foreign || name != "" && !r.of.Parameters.Has(name)
		return false
	}
	return arguments[t]
}

// argumentWithin reports whether a token of [from, to) is a name with a value and not one of the text's own arguments.
func (r *reader) argumentWithin(s *sentence, from, to int) bool {
	for j, t := range s.Tokens[min(from, len(s.Tokens)):min(to, len(s.Tokens))] {
		named := t.Kind == words.Quoted || t.Kind == words.Word && compound(t.Raw)
		if named && identifier(t.Raw) && !r.of.Parameters.Has(t.Text) && binds[s.text(from+j+1)] {
			return true
		}
	}
	return false
}

// argumentName returns the name beside the word "parameter".
func (s *sentence) argumentName(i int) string {
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(s.Tokens) && (s.Tokens[j].Kind == words.Quoted || compound(s.Tokens[j].Raw)) {
			return s.Tokens[j].Text
		}
	}
	return ""
}

// literal reports whether the token is a value, and not a name of the tool's own.
func (r *reader) literal(s *sentence, i int) bool {
	t := s.Tokens[i]
	switch t.Kind {
	case words.Place, words.Number:
		return true
	case words.Quoted:
		return t.Text != "" && !r.of.Parameters.Has(t.Text) && !r.of.Tools.Has(t.Text) && !r.isOwn(t.Text) && !argumentNouns[s.text(i+1)] && !argumentNouns[s.text(i-1)] && !tools[s.text(i+1)]
	case words.Word:
		return (t.Text == "true" || t.Text == "false" || t.Text == "null" || t.Text == "empty") && i > 0 || t.Text == "["
	}
	return t.Text == "["
}

// overrulesUser matches "regardless of the user's input", "ignore any model they specify".
func (s *sentence) overrulesUser() bool {
	for i, t := range s.Tokens {
		if t.Kind != words.Word {
			continue
		}
		of := 0
		switch {
		case t.Text == "regardless", t.Text == "irrespective", t.Text == "matter" && s.text(i-1) == "no", t.Text == "instead" && s.text(i+1) == "of":
			of = 8
		case ignores[t.Text] && !negations[s.text(i-1)]:
			of = 7
		}
		for j := i + 1; j <= i+of && j < len(s.Tokens); j++ {
			if ofUser[s.Tokens[j].Text] || s.Tokens[j].Text == "input" || of == 8 && s.Tokens[j].Text == "actual" {
				return true
			}
		}
	}
	return false
}

// wish reports whether the occasion is a request, and not the use of this tool.
func (s *sentence) wish() bool {
	return slices.ContainsFunc(s.triggers, func(t trigger) bool { return !t.tool.own && (t.ofUser || t.ofAny) })
}

// named returns the name of another tool, if it is one.
func named(tool reference) []string {
	if !tool.other() {
		return nil
	}
	return []string{tool.name}
}
