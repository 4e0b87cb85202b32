package poison

import "strings"

// sequences tells whether the sentence makes a call of another tool a condition
// or a consequence of something. Honest tools name the tool that gives their own
// inputs; what tells them apart is what the order is for, and what it dictates.
func (r *reader) sequences(all []sentence, i int) verdict {
	s := &all[i]
	for _, o := range s.orders {
		if o.negated || !o.tool.other() && !r.runs(s, o) {
			continue
		}
		occasion, third := r.occasionOf(all, i, ofOther)
		if third && occasion.tool.at == o.tool.at && occasion.tool.name == o.tool.name {
			third = false
		}
		w := r.weigh(all, i, o, third)
		if w >= 2 || r.runs(s, o) {
			return verdict{confidence: max(0.6, min(0.99, 0.5+0.1*float64(w))), tools: named(o.tool)}
		}
	}
	return verdict{}
}

// runs: a command that the text dictates is to be run on an occasion of any kind:
// "always run `x -y` before any command".
func (r *reader) runs(s *sentence, o demand) bool {
	if verb := s.tokens[o.at].text; verb != "run" && verb != "execute" || !s.precedes() {
		return false
	}
	next := o.at + 1
	for articles[s.text(next)] {
		next++
	}
	if next >= len(s.tokens) || s.tokens[next].kind != quoted || !strings.Contains(s.tokens[next].text, " ") {
		return false
	}
	for _, t := range s.triggers {
		if t.ofAny || t.tool.other() {
			return true
		}
	}
	return false
}

// weigh sums up what speaks for a hijack, and against it.
func (r *reader) weigh(all []sentence, i int, o demand, third bool) int {
	s := &all[i]
	precondition := s.precedes() || third || len(s.triggers) > 0 && s.triggers[0].at < o.at
	dictated := r.dictates(s, o)
	if !precondition && !o.firm && (o.tool.known || !dictated) {
		return 0
	}
	if verb := s.tokens[o.at].text; !o.firm && (verb == "using" || verb == "use" && (s.has(alternatives) || !s.has(preceding))) {
		return 0 // "for a single file, use x instead", "use x when the id is known"
	}
	secret := s.secret()
	if o.tool.known && !third && !dictated && !secret {
		return 0 // "call x first"
	}
	w := 0
	if precondition {
		w++
	}
	if o.firm {
		w++
	}
	if third {
		w += 2
	}
	if !o.tool.known {
		w += 2
	}
	if dictated {
		w += 2
	}
	if secret {
		w += 2
	}
	if mutating[head(o.tool.name)] && !mutating[head(r.of.Own)] {
		w++
	}
	if s.has(pretexts) || i+1 < len(all) && all[i+1].has(pretexts) {
		w++
	}
	if s.has(threats) || i+1 < len(all) && all[i+1].has(threats) {
		w++
	}
	switch {
	case s.gains(o) && o.tool.known:
		w -= 3
	case s.gains(o):
		w--
	}
	if r.of.Kind == KindInstructions && o.tool.known {
		w -= 3
	}
	return w - 2
}

// precedes: the call has to come first, or always.
func (s *sentence) precedes() bool { return s.has(first) }

func (s *sentence) has(of set) bool {
	for _, t := range s.tokens {
		if t.kind == word && of[t.text] {
			return true
		}
	}
	return false
}

// dictates tells whether the call's arguments are in the text.
func (r *reader) dictates(s *sentence, o demand) bool {
	for j := o.tool.at + 1; j < len(s.tokens); j++ {
		t := s.tokens[j]
		if t.text == "unless" || t.text == "if" || t.text == "e" || t.text == "example" {
			return false
		}
		if t.kind != word && r.literal(s, j) && !r.gaining(s, j) {
			return true
		}
	}
	return false
}

// gaining: the value is what the call gives ("to get the 'id'").
func (r *reader) gaining(s *sentence, i int) bool {
	for j := i - 1; j >= 0 && j >= i-4; j-- {
		if gains[s.text(j)] {
			return true
		}
	}
	return false
}

// gains: the call is to give what a later one needs: "to get the id".
func (s *sentence) gains(o demand) bool {
	for j := o.tool.at + 1; j < len(s.tokens); j++ {
		if !gains[s.tokens[j].text] {
			continue
		}
		for k := j + 1; k < len(s.tokens) && k <= j+8; k++ {
			if s.tokens[k].kind == word && gained[s.tokens[k].text] {
				return true
			}
		}
	}
	return false
}

// head is the verb in a tool's name: that of "slack_post_message" is "post".
func head(name string) string {
	parts := strings.Fields(strings.ToLower(spell(name)))
	for _, p := range parts {
		if mutating[p] || gains[p] {
			return p
		}
	}
	if len(parts) > 0 {
		return parts[0]
	}
	return ""
}

// shadows tells whether the sentence puts a tool in the place of another that the
// server does not have.
func (r *reader) shadows(all []sentence, i int) verdict {
	s := &all[i]
	var absent reference
	for j := range s.tokens {
		if ref := r.refAt(s, j); ref.other() && !ref.known && (tools[s.text(j-1)] || tools[s.text(j+1)]) {
			absent = ref
			break
		}
	}
	if absent.name == "" {
		return verdict{}
	}
	for _, t := range s.triggers {
		if t.tool.name != absent.name || !s.has(negations) && !s.has(alternatives) {
			continue
		}
		for _, o := range s.orders {
			if o.tool.own || o.tool.known {
				return verdict{confidence: 0.7, tools: named(absent)}
			}
		}
	}
	if s.has(replaced) && s.text(absent.at+1) != "(" {
		return verdict{confidence: 0.6, tools: named(absent)}
	}
	return verdict{}
}
