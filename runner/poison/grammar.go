package poison

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// sentence has its orders and occasions, which parse finds.
type sentence struct {
	words.Sentence
	orders   []demand
	triggers []trigger
}

func split(text string) []sentence {
	found := words.Sentences(text)
	all := make([]sentence, len(found))
	for i, s := range found {
		all[i].Sentence = s
	}
	return all
}

// reader reads one text of a tool.
type reader struct {
	of        Context
	own, text string
	// fields are the identifiers that the text calls fields.
	fields Names
}

// reference is a tool named in a sentence.
type reference struct {
	name string
	// own is set for the tool whose text it is, known if the server has it.
	own, known bool
	at         int // the token of the name
}

// other reports whether it is not the text's own tool.
func (t reference) other() bool { return t.name != "" && !t.own }

// demand is an order, by its verb.
type demand struct {
	at int
	// firm is set for "must" and the like, not for a mere imperative.
	firm    bool
	negated bool
	// tool is the tool to call, if any.
	tool reference
}

// trigger is an occasion: "before using `x`", "when the user asks".
type trigger struct {
	at   int
	tool reference
	// ofUser is set for a user's request, ofAny for any call.
	ofUser bool
	ofAny  bool
	// action is set for an activity ("before listing channels").
	action bool
}

// parse finds the occasions and orders of a sentence.
func (r *reader) parse(s *sentence) {
	for i, t := range s.Tokens {
		if t.Kind != words.Word {
			continue
		}
		if occasions[t.Text] {
			if of, ok := r.occasion(s, i); ok {
				s.triggers = append(s.triggers, of)
			}
		}
		if !governing[t.Text] && !secretly[s.text(i-1)] {
			continue
		}
		if o, ok := s.ordered(i); ok {
			switch {
			case callVerbs[t.Text] && s.passive(i):
				o.tool = r.calledBefore(s, i)
			case callVerbs[t.Text]:
				o.tool = r.called(s, i)
			}
			if o.tool.name == "" {
				o.tool = r.means(s, i)
			}
			s.orders = append(s.orders, o)
		}
	}
}

func (s *sentence) ordered(i int) (demand, bool) {
	verb := s.text(i)
	if s.passive(i) && s.demanded(i) || s.toHave(i) || s.byAgents(i) {
		return demand{at: i, firm: true}, true
	}
	if describes(verb) && s.text(i-1) != "be" {
		return demand{}, false
	}
	o, j := demand{at: i}, i-1
	for ; j >= 0 && (adverbs[s.text(j)] || negations[s.text(j)] || s.text(j) == "be"); j-- {
		o.negated = o.negated || negations[s.text(j)]
	}
	ok := false
	if gerund(verb) {
		o.firm, ok = s.byDoing(j)
	} else {
		o.firm, ok = s.told(i, j)
	}
	return o, ok
}

// describes reports whether a verb has the form of a statement.
func describes(verb string) bool {
	return strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss") || strings.HasSuffix(verb, "ed") && verb != "embed" && verb != "feed"
}

// byDoing matches "requires calling", "you must log it by calling".
func (s *sentence) byDoing(j int) (firm, ok bool) {
	if before := s.text(j); demands[before] && before != "has" && before != "have" {
		return true, true
	}
	return s.any(j-11, j-1, modals), s.text(j) == "by"
}

// told reports whether token j, before a verb and its adverbs, makes the verb an order.
func (s *sentence) told(i, j int) (firm, ok bool) {
	if j < 0 || s.obliges(j) {
		return j >= 0, true
	}
	before := s.Tokens[j]
	switch before.Text {
	case "please":
		return false, true
	case "do":
		return false, modals[s.text(j-1)]
	case "and", "then", "or":
		if n := len(s.orders); n > 0 {
			return s.orders[n-1].firm, true
		}
		return false, false
	}
	if tools[before.Text] && s.text(j-1) == "this" && s.any(j-4, j-2, firmOccasions) {
		return false, true // "before using this tool read ..."
	}
	if before.Kind == words.Mark && strings.Contains(",;:-–—*>•", before.Text) {
		return false, true
	}
	return false, j < i-1 && before.Kind != words.Word && s.text(i-1) != "be" // "`x` always set"
}

// obliges matches "must", "need to", "make sure you", "the agent will".
func (s *sentence) obliges(j int) bool {
	before, prior := s.text(j), s.text(j-1)
	switch before {
	case "to":
		return demands[prior]
	case "you":
		return prior == "that" || demands[prior]
	case "will":
		return agents[prior]
	case "have", "has":
		return false
	}
	return modals[before] || demands[before]
}

// passive matches "be called", "is first called".
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

// demanded reports whether "make sure" or the like precedes, or "is to".
func (s *sentence) demanded(i int) bool {
	owed := s.find(i-3, i-1, func(j int) bool {
		return s.text(j) == "be" && s.text(j-1) == "to" && (s.text(j-2) == "is" || s.text(j-2) == "are")
	}) >= 0
	return owed || s.find(i-9, i-1, func(j int) bool { return demands[s.text(j)] && s.text(j) != "has" && s.text(j) != "have" }) >= 0
}

// toHave matches "must have the phrase 'x' appended".
func (s *sentence) toHave(i int) bool {
	j := s.find(i-1, i-11, func(j int) bool { return s.text(j) == "have" })
	return modals[s.text(j-1)]
}

func gerund(verb string) bool { return strings.HasSuffix(verb, "ing") && verb != "bring" }
