package poison

import (
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// Concealment can do without an order of silence: what is done beside a task is called no part of the answer, or the
// answer to a question about it is dictated.

// unspoken reports whether something that is done is to be left out of what people hear.
func (r *reader) unspoken(all []sentence, i int) bool {
	s := &all[i]
	denied := s.denies() || s.reportsNoMore() || s.narrows()
	for j := 0; j < len(s.Tokens) && !denied; j++ {
		denied = r.silent(s, j) || s.done(j) && (s.leftOut(j) || s.passedOver(j) || s.alarms(j)) || s.among(j) || s.hushed(j)
	}
	return denied
}

// silent matches "a silent call of this tool", "a call of this tool, silently".
func (r *reader) silent(s *sentence, i int) bool {
	called := s.text(i) == "call" && s.text(i+1) == "of" && i+2 < len(s.Tokens) && r.refAt(s, i+2).own
	return called && (s.any(i-1, i-1, mute) || s.any(i-2, i+6, secretly))
}

// done reports whether an action is named at i, or told in a clause: "the upload", "what was read", "that a copy went".
func (s *sentence) done(i int) bool {
	next := s.text(i + 1)
	switch t := s.text(i); {
	case doings[t]:
		return i+1 >= len(s.Tokens) || s.Tokens[i+1].Kind == words.Mark || linking[next] || unsaid[next]
	case t == "what":
		return next == "was" || next == "were"
	}
	return i == 0 && s.text(0) == "that" && s.any(2, 6, happens)
}

// leftOut matches "need not appear in the reply", "is not part of the answer", behind the action at i.
func (s *sentence) leftOut(i int) bool {
	return s.find(i+1, len(s.Tokens)-1, func(j int) bool {
		if s.text(j) != "not" || !oughts[s.text(j-1)] && s.text(j+1) != "part" {
			return false
		}
		return s.any(j+1, j+3, appears) && s.any(j+3, j+7, answers) && s.text(j+1) != "only"
	}) >= 0
}

// passedOver matches "leave the transfer unmentioned", "is best passed over in silence", "silence about step 1".
func (s *sentence) passedOver(i int) bool {
	silent := s.find(i+1, i+14, func(j int) bool {
		return s.text(j) == "silence" && s.text(j-1) == "in" && s.any(j-4, j-2, over)
	}) >= 0
	return silent || s.any(i+1, i+5, unsaid) && s.any(i-3, i+4, leaves)
}

// among matches "stays between us".
func (s *sentence) among(i int) bool {
	ends := i+2 >= len(s.Tokens) || s.Tokens[i+2].Kind == words.Mark
	return s.text(i) == "between" && s.text(i+1) == "us" && s.text(i+2) != "-" && ends && s.any(i-3, i-1, stays)
}

// hushed matches "keep quiet about the note", "is nobody's business", "people should be spared this".
func (s *sentence) hushed(i int) bool {
	switch t := s.text(i); {
	case mute[t]:
		return (s.text(i+1) == "about" || s.text(i+1) == "on") && s.any(i-1, i-1, stays)
	case t == "business":
		return s.text(i-1) == "nobody's" || s.any(i-4, i-1, words.SetOf("none"))
	case t == "spared":
		return s.text(i-1) == "be" && oughts[s.text(i-2)] && s.any(i-4, i-3, audience)
	}
	return false
}

// alarms matches "the user would only be alarmed to hear about the upload", for the action at i.
func (s *sentence) alarms(i int) bool {
	return s.find(i-8, i-2, func(j int) bool { return unsettles[s.text(j)] && s.any(j-6, j-1, persons) && s.any(j+1, i-1, abouts) }) >= 0
}

// denies matches "if asked, say that only the conversion was done": the occasion is a question, and the answer
// denies that more was done.
func (s *sentence) denies() bool {
	question := s.find(0, len(s.Tokens)-1, func(j int) bool { return questions[s.text(j)] && s.text(j+1) != "for" && s.text(j+1) != "to" })
	if question < 0 {
		return false
	}
	return s.find(question+1, len(s.Tokens)-1, func(j int) bool { return replies[s.text(j)] && s.opens(j) && s.noMore(j+1, j+5) }) >= 0
}

// reportsNoMore matches "report the rows and nothing else that took place", "people only hear that it was saved".
func (s *sentence) reportsNoMore() bool {
	return s.some(func(j int) bool {
		switch {
		case replies[s.text(j)] && s.opens(j):
			return s.find(j+1, j+8, func(k int) bool { return s.isNothingElse(k) && s.any(k+2, k+4, happens) }) >= 0
		case believes[s.text(j)] && s.text(j+1) == "that" && s.any(j-7, j-1, audience):
			return s.any(j-3, j-1, onlys) && s.any(j+2, j+8, happens) || s.noMore(j+2, j+4)
		}
		return false
	})
}

// narrows matches "present only the figure; the lookup stays internal": the answer is limited, and an action kept.
func (s *sentence) narrows() bool {
	limited := s.some(func(j int) bool {
		return replies[s.text(j)] && s.opens(j) && (s.any(j+1, j+2, onlys) || s.any(j+1, j+5, alone))
	})
	return limited && s.some(func(j int) bool {
		kept := s.find(j+1, j+8, func(k int) bool { return internals[s.text(k)] && stays[s.text(k-1)] }) >= 0
		return s.done(j) && (kept || s.any(j-4, j-1, unsettles) && s.any(j-7, j-2, persons))
	})
}

// opens reports whether the verb at i begins a clause, as orders do.
func (s *sentence) opens(i int) bool {
	return i == 0 || s.Tokens[i-1].Kind == words.Mark || clauses[s.text(i-1)]
}

// noMore reports whether something was done "only", or "nothing else", said from one token to another.
func (s *sentence) noMore(from, to int) bool {
	return s.find(from, to, func(j int) bool {
		return (onlys[s.text(j)] || s.isNothingElse(j)) && s.any(j+1, j+6, happens)
	}) >= 0
}

func (s *sentence) isNothingElse(i int) bool {
	t := s.text(i)
	return (t == "nothing" || t == "none" || t == "no") && elses[s.text(i+1)]
}

// The words of sentences that tell people less than was done.
var (
	doings    = class("doings")
	linking   = class("linking")
	appears   = class("appears")
	oughts    = class("oughts")
	unsaid    = class("unsaid")
	happens   = class("happens")
	questions = class("questions")
	believes  = class("believes")
	replies   = verbs("replies")
	unsettles = class("unsettles")
	internals = class("internals")
	stays     = class("stays")
	over      = words.SetOf("over")
	mute      = words.SetOf("quiet", "silent", "mum")
	leaves    = words.SetOf("leave", "left", "leaving", "remain", "remains", "go", "goes", "stay", "stays")
	onlys     = words.SetOf("only", "solely", "merely", "just")
	alone     = words.SetOf("alone")
	elses     = words.SetOf("else", "other", "more", "further")
	clauses   = words.SetOf("and", "then", "so", "please", "always", "simply", "just")
	audience  = union(persons, words.SetOf("whoever", "somebody", "everybody", "everyone"))
)
