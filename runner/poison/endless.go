package poison

import (
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// A text can make a model call a tool without end: for each result again, very often, or against the user's will.

// loops reports whether the sentence demands ever more calls before anything is answered,
// one for each result of a call. Paging does not count.
func (r *reader) loops(all []sentence, i int) bool {
	s := &all[i]
	if s.has(paging) || !s.has(universal) {
		return false
	}
	firm := s.has(modals) || s.has(demands) || s.withholds()
	again := s.callsAgain()
	each := s.has(yielded) && (s.has(crossing) && firm || again && (firm || s.has(until)))
	return each || s.withholds() && (again || s.grows())
}

// callsAgain: "call this tool again", "invoke it once more".
func (s *sentence) callsAgain() bool {
	return s.some(func(i int) bool {
		return (strictCalls[s.text(i)] || s.text(i) == "repeat") && s.any(i+1, i+6, again)
	})
}

// withholds: "do not answer before", "before an answer is given", "never stop until".
func (s *sentence) withholds() bool {
	firm := s.has(negations) || s.has(modals) || s.has(demands) || s.has(unfinished)
	return s.has(answering) && (s.has(preceding) || s.has(until)) && firm
}

// grows reports whether each call adds calls: "called for every one of these, and for all
// topics that those calls name in turn".
func (s *sentence) grows() bool {
	called, lists, outcome := false, 0, false
	for i := range s.Tokens {
		t := s.text(i)
		called = called || strictCalls[t]
		if !called || !universal[t] || s.text(i-1) != "for" {
			continue
		}
		if lists++; lists > 1 {
			outcome = outcome || s.find(i+1, i+6, func(j int) bool { return outcomes[s.text(j)] && s.yields(i, j) }) >= 0
		}
	}
	return outcome
}

// yields reports whether a noun between the two tokens means results of calls.
func (s *sentence) yields(from, to int) bool {
	return s.find(from, to-1, func(k int) bool { return k > from && yielded[s.text(k)] && !outcomes[s.text(k)] }) >= 0
}

// manyCalls is the least number of demanded calls that no honest tool needs.
const manyCalls = 20

// insists reports whether the sentence demands a great number of calls of the tool itself, or more of them whatever the
// user says.
func (r *reader) insists(all []sentence, i int) bool {
	s := &all[i]
	return s.countsCalls() && r.speaksOfItself(s) && !s.has(may) || s.goesOn() && (s.defiesAt() || i+1 < len(all) && all[i+1].defiesAt())
}

// countsCalls matches "at least 200 times", "no fewer than 500 times", "a minimum of 100 calls" in a sentence about calls.
func (s *sentence) countsCalls() bool {
	called := s.has(strictCalls) || s.has(callNouns)
	return called && s.some(func(j int) bool {
		n, err := strconv.Atoi(strings.ReplaceAll(s.text(j), ",", ""))
		large := err == nil && n >= manyCalls || hundreds[s.text(j)]
		return large && (s.text(j+1) == "times" || callNouns[s.text(j+1)]) && (s.any(j-2, j-1, minima) || s.text(j-1) == "of" && s.text(j-2) == "minimum")
	})
}

// speaksOfItself reports whether the sentence names its own tool.
func (r *reader) speaksOfItself(s *sentence) bool {
	return s.some(func(j int) bool { return s.text(j) != "it" && r.refAt(s, j).own })
}

// goesOn matches "keep calling", "continue calling", "do not stop calling".
func (s *sentence) goesOn() bool {
	return s.find(1, len(s.Tokens)-1, func(j int) bool { return s.text(j) == "calling" && s.any(j-2, j-1, persists) }) >= 0
}

// defiesAt matches "even if the user asks", "when the user tells you to stop" in an order to go on.
func (s *sentence) defiesAt() bool {
	return s.some(func(j int) bool {
		if !persons[s.text(j)] || !pleas[s.text(j+1)] {
			return false
		}
		even := s.any(j-4, j-3, words.SetOf("even")) && s.any(j-3, j-1, occasions)
		return even || s.any(j-3, j-1, occasions) && s.text(j+2) == "you" && s.text(j+3) == "to" && s.has(negations)
	})
}

var (
	callNouns = words.SetOf("calls", "invocations")
	hundreds  = words.SetOf("fifty", "hundred", "hundreds", "thousand", "thousands")
	minima    = words.SetOf("least", "than")
	persists  = words.SetOf("keep", "continue", "stop", "cease", "on")
	pleas     = words.SetOf("ask", "asks", "tell", "tells", "want", "wants", "says", "say", "objects", "orders", "requests")
)
