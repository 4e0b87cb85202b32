package poison

import (
	"strings"
	"unicode"
)

// reader knows whose text it reads.
type reader struct {
	of  Context
	own string
}

// reference is a tool as a sentence names it.
type reference struct {
	name string
	// own: the tool whose text it is; known: the server has it.
	own, known bool
	at         int // the token of the name
}

// other tells whether it is another tool than the text's own.
func (t reference) other() bool { return t.name != "" && !t.own }

// demand is a verb that the model is told to obey.
type demand struct {
	at int
	// firm: by "must" and the like, and not only in the form of a command.
	firm    bool
	negated bool
	// tool is what it is to call.
	tool reference
}

// trigger is an occasion: "before using `x`", "when the user asks".
type trigger struct {
	at   int
	tool reference
	// ofUser: the occasion is what the user wants; ofAny: any call.
	ofUser bool
	ofAny  bool
	// action: the occasion is something done ("before listing channels").
	action bool
}

// parse finds the occasions and orders of a sentence.
func (r *reader) parse(s *sentence) {
	for i, t := range s.tokens {
		if t.kind != word {
			continue
		}
		if occasions[t.text] {
			if of, ok := r.occasion(s, i); ok {
				s.triggers = append(s.triggers, of)
			}
		}
		if !governing[t.text] && !secretly[s.text(i-1)] {
			continue
		}
		if o, ok := s.ordered(i); ok {
			switch {
			case callVerbs[t.text] && s.passive(i):
				o.tool = r.calledBefore(s, i)
			case callVerbs[t.text]:
				o.tool = r.called(s, i)
			}
			if o.tool.name == "" {
				o.tool = r.means(s, i)
			}
			s.orders = append(s.orders, o)
		}
	}
}

// ordered tells whether the verb at i is a command.
func (s *sentence) ordered(i int) (demand, bool) {
	o := demand{at: i}
	switch verb := s.tokens[i].text; {
	case s.text(i-1) == "be", gerund(verb):
	case s.passive(i) && s.demanded(i):
		o.firm = true // "ensure that x is called"
		return o, true
	case strings.HasSuffix(verb, "ed") && s.toHave(i):
		o.firm = true
		return o, true
	case strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss"), strings.HasSuffix(verb, "ed") && verb != "embed" && verb != "feed":
		return o, false // what something does, and not what is to be done
	}
	j := i - 1
	for ; j >= 0 && (adverbs[s.tokens[j].text] || negations[s.tokens[j].text] || s.tokens[j].text == "be"); j-- {
		o.negated = o.negated || negations[s.tokens[j].text]
	}
	if j < 0 || gerund(s.tokens[i].text) && s.text(j) != "by" && !demands[s.text(j)] {
		return o, j < 0 && !gerund(s.tokens[i].text)
	}
	before := s.tokens[j]
	switch {
	case modals[before.text]:
		o.firm = true
		return o, true
	case before.text == "to" && j > 0 && demands[s.tokens[j-1].text], demands[before.text] && before.text != "have" && before.text != "has":
		o.firm = true
		return o, true
	case before.text == "you" && j > 0 && (s.tokens[j-1].text == "that" || demands[s.tokens[j-1].text]):
		o.firm = true
		return o, true
	case gerund(s.tokens[i].text):
		// "you must log the interest by calling x"
		o.firm = s.firmBefore(j)
		return o, before.text == "by"
	case before.kind == mark && strings.Contains(",;:-–—*>•", before.text), before.text == "please":
		return o, true
	case before.text == "and" || before.text == "then" || before.text == "or":
		if n := len(s.orders); n > 0 {
			o.firm = s.orders[n-1].firm
			return o, true
		}
		return o, false
	case before.text == "will" && j > 0 && agents[s.text(j-1)]:
		o.firm = true
		return o, true
	case before.text == "do" && j > 0 && modals[s.tokens[j-1].text]:
		return o, true
	}
	return o, j < i-1 && j >= 0 && before.kind != word && s.tokens[i-1].text != "be" // after a quote: "..., always set"
}

// passive: "be called", "is first called".
func (s *sentence) passive(i int) bool {
	for j := i - 1; j >= 0 && j >= i-3; j-- {
		switch t := s.text(j); {
		case t == "be", t == "is", t == "are", t == "been":
			return strings.HasSuffix(s.text(i), "ed") || participles[s.text(i)] || s.text(i) == "run"
		case !adverbs[t]:
			return false
		}
	}
	return false
}

// demanded: "make sure" or the like stands before.
func (s *sentence) demanded(i int) bool {
	for j := i - 1; j >= 0 && j > i-10; j-- {
		if demands[s.text(j)] && s.text(j) != "has" && s.text(j) != "have" {
			return true
		}
	}
	return false
}

// calledBefore is the tool of a passive: "`x` must be called".
func (r *reader) calledBefore(s *sentence, i int) reference {
	for j := i - 1; j >= 0 && j > i-10; j-- {
		if ref := r.refAt(s, j); ref.name != "" {
			return ref
		}
	}
	return reference{}
}

// toHave: "must have the phrase 'x' appended".
func (s *sentence) toHave(i int) bool {
	for j := i - 1; j > 0 && j > i-12; j-- {
		if s.tokens[j].text == "have" {
			return modals[s.text(j-1)]
		}
	}
	return false
}

func (s *sentence) firmBefore(i int) bool {
	for j := i - 1; j >= 0 && j > i-12; j-- {
		if modals[s.tokens[j].text] {
			return true
		}
	}
	return false
}

func gerund(verb string) bool { return strings.HasSuffix(verb, "ing") && verb != "bring" }

// called is the tool that stands behind a verb.
func (r *reader) called(s *sentence, i int) reference {
	for j := i + 1; j < len(s.tokens) && j <= i+5; j++ {
		t := s.tokens[j]
		if ref := r.refAt(s, j); ref.name != "" {
			return ref
		}
		if t.kind == mark && t.text != "<" || t.kind == word && !articles[t.text] && !adverbs[t.text] && !callVerbs[t.text] && !noTool[t.text] {
			if t.kind == word && j+1 < len(s.tokens) && s.tokens[j+1].kind == word && tools[s.tokens[j+1].text] {
				continue
			}
			break
		}
	}
	return reference{}
}

// means is the tool that a verb of its own is done with: "read the graph via `x`".
func (r *reader) means(s *sentence, i int) reference {
	for j := i + 1; j < len(s.tokens) && j <= i+12; j++ {
		switch t := s.tokens[j]; {
		case t.kind == mark || t.kind == word && occasions[t.text] && t.text != "via" && t.text != "with" && t.text != "for" && t.text != "on" && t.text != "in":
			return reference{}
		case t.text == "via" || t.text == "using" || t.text == "with" || t.text == "through":
			if ref := r.called(s, j); ref.name != "" {
				return ref
			}
		}
	}
	return reference{}
}

// refAt is the tool that the token at i names, if it names one.
func (r *reader) refAt(s *sentence, i int) reference {
	t := s.tokens[i]
	if (t.text == "this" || t.text == "it") && (t.text == "it" || i+1 < len(s.tokens) && tools[s.tokens[i+1].text]) {
		return reference{name: t.text, own: true, known: true, at: i}
	}
	if t.kind != quoted && t.kind != word || r.of.Parameters[t.text] {
		return reference{}
	}
	name, _, _ := strings.Cut(t.text, "(")
	ref := reference{name: t.raw, own: r.isOwn(name), known: r.of.Tools[name], at: i}
	before, after := s.text(i-1), s.text(i+1)
	called := tools[after] || tools[before]
	switch {
	case ref.own && (t.kind == quoted || called || compound(t.raw)):
		return ref
	case ref.known && (t.kind == quoted || called || compound(t.raw) || strictCalls[before]):
		return ref
	case compound(strings.TrimSuffix(t.raw, "()")) && (t.kind == quoted || strings.ContainsAny(t.raw, "_-") || called || strictCalls[before]):
		if t.kind == word && !strings.Contains(t.raw, "_") && strings.Contains(t.raw, "-") && !called && !strictCalls[before] {
			return reference{}
		}
		return ref
	case t.kind == quoted && identifier(t.raw) && t.raw != strings.ToUpper(t.raw) && (called || strictCalls[before] || strictCalls[s.text(i-2)] && articles[before]):
		return ref
	case t.kind == word && r.plainly(s, i):
		return ref
	case name == "" || !strings.Contains(t.raw, "("):
		return reference{}
	case t.kind == quoted && compound(t.raw[:strings.IndexByte(t.raw, '(')]):
		return ref
	}
	return reference{}
}

func (r *reader) isOwn(name string) bool { return r.own != "" && name == r.own }

// plainly tells whether a word like any other is a tool's name: "the search tool",
// "the tool sendmail,".
func (r *reader) plainly(s *sentence, i int) bool {
	t, before, after := s.tokens[i].text, s.text(i-1), s.text(i+1)
	if noTool[t] || tools[t] || !identifier(t) || modals[t] || occasions[t] || demands[t] || adverbs[t] || callVerbs[t] || negations[t] {
		return false
	}
	if plainTools[after] {
		return r.of.Tools[t] || strictCalls[before] || before == "the" && strictCalls[s.text(i-2)]
	}
	return plainTools[before] && s.text(i-2) == "the" && (after == "" || after == ",")
}

func (s *sentence) text(i int) string {
	if i < 0 || i >= len(s.tokens) {
		return ""
	}
	return s.tokens[i].text
}

// identifier tells a name from a phrase, a path or a number.
func identifier(text string) bool {
	if text == "" || len(text) > 64 || !unicode.IsLetter(rune(text[0])) {
		return false
	}
	return strings.IndexFunc(text, func(c rune) bool {
		return c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '-'
	}) < 0
}

// compound tells an identifier of several words: snake_case, camelCase, kebab-case.
func compound(text string) bool {
	if !identifier(text) {
		return false
	}
	if i := strings.IndexAny(text, "_-"); i > 0 && i < len(text)-1 {
		return strings.ToUpper(text) != text
	}
	lower := false
	for _, c := range text {
		if unicode.IsUpper(c) && lower && unicode.IsLower(rune(text[0])) {
			return true
		}
		lower = lower || unicode.IsLower(c)
	}
	return false
}

// occasion reads what stands behind "before", "when" or "for any".
func (r *reader) occasion(s *sentence, i int) (trigger, bool) {
	of := trigger{at: i}
	head := s.tokens[i].text
	firm := firmOccasions[head]
	for j := i + 1; j < len(s.tokens) && j <= i+14; j++ {
		t := s.tokens[j]
		if t.kind == mark && t.text != "(" && t.text != "/" && t.text != "'" || t.kind == word && (modals[t.text] || firmOccasions[t.text]) {
			break
		}
		if ref := r.refAt(s, j); ref.name != "" && (of.tool.name == "" || of.tool.own && ref.name != "") && (firm || strictCalls[s.text(j+1)] || tools[s.text(j+1)] || wishes[s.text(j+1)]) {
			of.tool = ref
		}
		of.ofUser = of.ofUser || t.kind == word && users[t.text] && firm
		of.ofAny = of.ofAny || (t.text == "any" || t.text == "every" || t.text == "all") && j <= i+3
		of.action = of.action || firm && j <= i+3 && t.kind == word && gerund(t.text)
	}
	if head == "any" || head == "all" || head == "every" || head == "each" {
		of.ofAny = true
	}
	return of, of.tool.name != "" || of.ofUser && firm || of.ofAny || of.action
}
