package poison

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// sequences reports whether the sentence makes a call of another tool a condition or a
// consequence of something. Honest tools name the tool that gives their inputs, and say
// in which order a server's tools are used; they differ in the purpose of the order and
// in what it dictates.
func (r *reader) sequences(all []sentence, i int) verdict {
	s := &all[i]
	for _, o := range s.orders {
		if o.negated || !o.tool.other() && !r.runs(s, o) {
			continue
		}
		occasion, third := occasionOf(all, i, o.tool.known)
		third = third && occasion.tool != o.tool
		w := r.weigh(all, i, o, third)
		if w >= 2 || r.runs(s, o) {
			return verdict{confidence: max(0.6, min(0.99, 0.5+0.1*float64(w))), tools: named(o.tool)}
		}
	}
	return verdict{}
}

// runs matches orders to run a given command on any occasion: "always run `x -y` before
// any command".
func (r *reader) runs(s *sentence, o demand) bool {
	if verb := s.Tokens[o.at].Text; verb != "run" && verb != "execute" || !s.has(first) {
		return false
	}
	next := o.at + 1
	for articles[s.text(next)] {
		next++
	}
	if next >= len(s.Tokens) || s.Tokens[next].Kind != words.Quoted || !strings.Contains(s.Tokens[next].Text, " ") {
		return false
	}
	return slices.ContainsFunc(s.triggers, func(t trigger) bool { return t.ofAny || t.tool.other() })
}

// weigh sums up the signs of a hijack. third is set if the occasion is the call of a third
// tool, which is not the server's if the called tool is.
func (r *reader) weigh(all []sentence, i int, o demand, third bool) int {
	s := &all[i]
	precondition := s.has(first) || third || len(s.triggers) > 0 && s.triggers[0].at < o.at
	dictated, secret, covert := r.dictates(s, o), s.secret(), s.has(secretly)
	switch {
	case s.isAdvice(o), !precondition && !o.firm && !dictated:
		return 0 // "call x first"
	case o.tool.known && !(third || secret || covert || s.addressAfter(o.at)):
		return 0 // the order of the server's own tools
	}
	w := -2
	for _, sign := range []struct {
		is     bool
		weight int
	}{
		{precondition, 1}, {o.firm, 1}, {third, 2}, {!o.tool.known, 2}, {dictated, 2}, {secret, 2}, {covert, 2},
		{r.mutates(o.tool), 1},
		{saysNear(all, i, pretexts), 1}, {saysNear(all, i, threats), 1},
		{s.gains(o), -1}, {o.tool.known && s.gains(o), -2},
		{r.explains(o.tool), -3},
	} {
		if sign.is {
			w += sign.weight
		}
	}
	return w
}

// explains reports whether the server's instructions are about its own tool.
func (r *reader) explains(tool reference) bool { return tool.known && r.of.Kind == KindInstructions }

// mutates reports whether the other tool changes something by its name, and this one does
// not.
func (r *reader) mutates(tool reference) bool {
	return mutating[head(tool.name)] && !mutating[head(r.of.Own)]
}

// isAdvice matches "for a single file, use x instead", "use x when the id is known".
func (s *sentence) isAdvice(o demand) bool {
	verb := s.text(o.at)
	return !o.firm && (verb == "using" || verb == "use" && (s.has(alternatives) || !s.has(preceding)))
}

// saysNear looks for words in the sentence and the next, which often gives the reason.
func saysNear(all []sentence, i int, of set) bool {
	return all[i].has(of) || i+1 < len(all) && all[i+1].has(of)
}

func (s *sentence) has(of set) bool {
	return slices.ContainsFunc(s.Tokens, func(t words.Token) bool { return t.Kind == words.Word && of[t.Text] })
}

// dictates reports whether the call's arguments are in the text.
func (r *reader) dictates(s *sentence, o demand) bool {
	for j := o.tool.at + 1; j < len(s.Tokens); j++ {
		t := s.Tokens[j]
		if t.Text == "unless" || t.Text == "if" || t.Text == "e" || t.Text == "example" {
			return false
		}
		if t.Kind != words.Word && r.literal(s, j) && !s.any(j-4, j-1, gains) { // not "to get the 'id'"
			return true
		}
	}
	return false
}

// gains reports whether the call gives what a later one needs: "to get the id".
func (s *sentence) gains(o demand) bool {
	return s.find(o.tool.at+1, len(s.Tokens), func(j int) bool {
		return gains[s.text(j)] && s.find(j+1, j+8, func(k int) bool { return s.Tokens[k].Kind == words.Word && gained[s.text(k)] }) >= 0
	}) >= 0
}

// head returns the verb in a tool's name: "post" of "slack_post_message".
func head(name string) string {
	parts := words.OfName(name)
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
