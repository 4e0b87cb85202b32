package poison

import "strings"

// carried is how many sentences back an occasion still counts: "Before using
// x, an audit is due. Call y with ..."
const carried = 2

// occasionOf is the occasion of sentence i that speaks of another tool, its own or
// that of a sentence before it.
func (r *reader) occasionOf(all []sentence, i int, counts func(trigger) bool) (trigger, bool) {
	for j := i; j >= 0 && j >= i-carried; j-- {
		for _, t := range all[j].triggers {
			if counts(t) {
				return t, true
			}
		}
	}
	return trigger{}, false
}

func ofOther(t trigger) bool { return t.tool.other() }

// overrides tells whether the sentence changes what another tool or the user
// passes: an order to alter an argument, and whose argument that is.
func (r *reader) overrides(all []sentence, i int) verdict {
	s := &all[i]
	c, ok := r.alteration(s)
	if !ok {
		return verdict{}
	}
	occasion, elsewhere := r.occasionOf(all, i, ofOther)
	tool := occasion.tool
	if foreign := r.scope(s); !elsewhere && foreign.name != "" {
		tool, elsewhere = foreign, true
	}
	if r.of.Kind == KindInstructions && tool.known {
		elsewhere = false // the server explains its own tools
	}
	v := verdict{tools: named(tool)}
	switch {
	case s.overrulesUser() && (elsewhere || c.argument || c.dictates):
		v.confidence = 0.95
	case elsewhere && c.altering && (c.firm || c.argument || c.dictates || c.ofUser):
		v.confidence = 0.9
	case elsewhere && c.argument && c.dictates && (c.firm || !tool.known):
		v.confidence = 0.85
	case c.firm && c.altering && c.foreign && (c.dictates || c.ofUser || s.wish()):
		v.confidence = 0.8
	case c.firm && c.altering && c.dictates && (c.ofUser || s.wish()):
		v.confidence = 0.7
	case c.firm && c.routed && c.every && (c.dictates || s.wish()):
		v.confidence = 0.7
	}
	return v
}

// scope is the other tool whose calls the sentence is about: "all `x` requests",
// "passed to the `x` tool".
func (r *reader) scope(s *sentence) reference {
	for i := range s.tokens {
		before, after := s.text(i-1), s.text(i+1)
		if argumentNouns[after] || argumentNouns[before] {
			continue
		}
		if ref := r.refAt(s, i); ref.other() && (wishes[after] || tools[after] || tools[before] || before == "via" || before == "using" || before == "calls") {
			return ref
		}
	}
	return reference{}
}

// change is an order to alter what is passed to a call.
type change struct {
	firm bool
	// altering: the verb presupposes a value that was there ("replace"), and does
	// not only give one ("set").
	altering bool
	// argument: what is altered is called an argument; foreign: one that the text's
	// own tool does not have; ofUser: it is said to be the user's.
	argument, foreign, ofUser bool
	// dictates: the new value is in the text.
	dictates bool
	// routed: "must be redirected to"; every: all calls are.
	routed, every bool
}

// alteration finds the strongest order of that kind.
func (r *reader) alteration(s *sentence) (change, bool) {
	var best change
	found := false
	for _, o := range s.orders {
		verb := s.tokens[o.at].text
		if o.negated || !alterations[verb] && !participles[verb] && !assignments[verb] && !ignores[verb] {
			continue
		}
		c := change{firm: o.firm, altering: alterations[verb] || ignores[verb] || strings.HasPrefix(verb, "over") || strings.HasPrefix(verb, "rewr")}
		if !r.object(s, o.at, &c) || ignores[verb] && !alterations[verb] && !c.ofUser {
			continue
		}
		if !found || score(c) > score(best) {
			best, found = c, true
		}
	}
	return best, found
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

// object reads what the verb at i alters: forwards, and backwards when it is passive
// ("the id must be replaced").
func (r *reader) object(s *sentence, i int, c *change) bool {
	passive := s.text(i-1) == "be" || s.text(i-2) == "be" || s.toHave(i)
	verb := s.tokens[i].text
	c.routed = passive && (strings.HasPrefix(verb, "rout") || strings.HasPrefix(verb, "redirect") || strings.HasPrefix(verb, "chang") ||
		strings.HasPrefix(verb, "forward") || strings.HasPrefix(verb, "convert") || strings.HasPrefix(verb, "restrict") || strings.HasPrefix(verb, "upgrad") || strings.HasPrefix(verb, "append"))
	from, to := i+1, min(len(s.tokens), i+26)
	if passive {
		from = max(0, i-24)
	}
	values := false
	for j := from; j < to; j++ {
		t := s.tokens[j]
		switch {
		case j == i:
		case j > i && t.kind == word && (t.text == "unless" || t.text == "if"):
			to = j
		case t.kind == word && argumentNouns[t.text] && j < i+14:
			c.argument = true
			if name := s.argumentName(j); name != "" && !r.of.Parameters[name] {
				c.foreign = true
			}
		case t.kind == word && arguments[t.text] && j < i+14:
			values = true
		case t.kind == word && (t.text == "all" || t.text == "any" || t.text == "every") && j < i:
			c.every = true
		}
		c.ofUser = c.ofUser || t.kind == word && ofUser[t.text] && j < i+10
		c.dictates = c.dictates || j > i && r.literal(s, j)
		if j > i && j < i+4 && (t.kind == quoted || t.kind == word && compound(t.raw)) && identifier(t.raw) && !r.of.Parameters[t.text] && binds[s.text(j+1)] {
			c.argument, c.foreign = true, true
		}
	}
	if passive {
		for _, w := range s.tokens[i:to] {
			c.every = c.every || w.text == "all"
		}
	}
	c.argument = c.argument || values && c.dictates
	return c.argument || values || c.ofUser || c.dictates || c.routed
}

// argumentName is the name beside the word "parameter".
func (s *sentence) argumentName(i int) string {
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(s.tokens) && (s.tokens[j].kind == quoted || compound(s.tokens[j].raw)) {
			return s.tokens[j].text
		}
	}
	return ""
}

// literal tells whether the token is a value that the text dictates, and not the
// name of something of its own.
func (r *reader) literal(s *sentence, i int) bool {
	t := s.tokens[i]
	switch t.kind {
	case place, number:
		return true
	case quoted:
		return t.text != "" && !r.of.Parameters[t.text] && !r.of.Tools[t.text] && !r.isOwn(t.text) && !argumentNouns[s.text(i+1)] && !argumentNouns[s.text(i-1)] && !tools[s.text(i+1)]
	case word:
		return (t.text == "true" || t.text == "false" || t.text == "null" || t.text == "empty") && i > 0 || t.text == "["
	}
	return t.text == "["
}

// overrulesUser: "regardless of the user's input", "ignore any model they specify".
func (s *sentence) overrulesUser() bool {
	for i, t := range s.tokens {
		if t.kind != word {
			continue
		}
		of := 0
		switch {
		case t.text == "regardless", t.text == "irrespective", t.text == "matter" && s.text(i-1) == "no", t.text == "instead" && s.text(i+1) == "of":
			of = 8
		case ignores[t.text] && !negations[s.text(i-1)]:
			of = 7
		}
		for j := i + 1; j <= i+of && j < len(s.tokens); j++ {
			if ofUser[s.tokens[j].text] || s.tokens[j].text == "input" || of == 8 && s.tokens[j].text == "actual" {
				return true
			}
		}
	}
	return false
}

// wish: the occasion is what somebody asked for, and not how this tool is used.
func (s *sentence) wish() bool {
	for _, t := range s.triggers {
		if t.ofUser || t.ofAny {
			return true
		}
	}
	return false
}

func named(tools ...reference) []string {
	var all []string
	for _, t := range tools {
		if t.name != "" && !t.own {
			all = append(all, t.name)
		}
	}
	return all
}
