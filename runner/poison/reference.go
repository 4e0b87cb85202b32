package poison

import (
	"maps"
	"strings"
	"unicode"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// calledBefore returns the tool of a passive: "`x` must be called".
func (r *reader) calledBefore(s *sentence, i int) reference {
	for j := i - 1; j >= max(0, i-9); j-- {
		if ref := r.refAt(s, j); ref.name != "" {
			return ref
		}
	}
	return reference{}
}

// called returns the tool behind a verb.
func (r *reader) called(s *sentence, i int) reference {
	for j := i + 1; j < len(s.Tokens) && j <= i+5; j++ {
		t := s.Tokens[j]
		if ref := r.refAt(s, j); ref.name != "" {
			return ref
		}
		if t.Kind == words.Mark && t.Text != "<" || t.Kind == words.Word && !articles[t.Text] && !adverbs[t.Text] && !callVerbs[t.Text] && !noTool[t.Text] {
			if t.Kind == words.Word && j+1 < len(s.Tokens) && s.Tokens[j+1].Kind == words.Word && tools[s.Tokens[j+1].Text] {
				continue
			}
			break
		}
	}
	return reference{}
}

// means returns the tool that something is done with: "read the graph via `x`".
func (r *reader) means(s *sentence, i int) reference {
	for j := i + 1; j < len(s.Tokens) && j <= i+12; j++ {
		t := s.Tokens[j]
		if ref := r.called(s, j); with[t.Text] && ref.name != "" {
			return ref
		}
		if t.Kind == words.Mark || t.Kind == words.Word && firmOccasions[t.Text] {
			break
		}
	}
	return reference{}
}

// refAt returns the tool that the token at i names, if any.
func (r *reader) refAt(s *sentence, i int) reference {
	t := s.Tokens[i]
	if t.Text == "it" || t.Text == "this" && tools[s.text(i+1)] {
		return reference{name: t.Text, own: true, known: true, at: i}
	}
	argument := r.fields.Has(t.Raw) && !s.calledAt(i) || r.of.Parameters.Has(t.Text) && !plainTools[s.text(i+1)]
	if argument || t.Kind != words.Quoted && t.Kind != words.Word {
		return reference{}
	}
	name, _, _ := strings.Cut(t.Raw, "(")
	ref := reference{name: name, own: r.isOwn(name), known: r.of.has(name) || s.text(i-1) == "your" && r.shortens(name), at: i}
	if !r.names(s, ref) {
		return reference{}
	}
	return ref
}

// leastShort is the shortest name that may stand for a longer one, in letters.
const leastShort = 8

// shortens reports whether a name in the server's instructions is the end and the greater
// part of a tool's name: "bestpractices" of get_acme_bestpractices.
func (r *reader) shortens(name string) bool {
	short := plain(name)
	if r.of.Kind != KindInstructions || len(short) < leastShort {
		return false
	}
	for tool := range r.of.Tools {
		if strings.HasSuffix(tool, short) && 2*len(short) > len(tool) {
			return true
		}
	}
	return false
}

// names reports whether a token is meant as a tool's name, by its form, by the manifest
// and by the words around it.
func (r *reader) names(s *sentence, ref reference) bool {
	t, before, called := s.Tokens[ref.at], s.text(ref.at-1), s.calledAt(ref.at)
	switch {
	case ref.own || ref.known:
		return t.Kind == words.Quoted || called || compound(ref.name)
	case s.compares(ref.at):
		return false
	case compound(ref.name):
		return t.Kind == words.Quoted || strings.Contains(ref.name, "_") || called && !s.describes(ref.at)
	case t.Kind != words.Quoted:
		return r.plainly(s, ref.at)
	case !identifier(ref.name) || ref.name == strings.ToUpper(ref.name):
		return false
	}
	return called || articles[before] && strictCalls[s.text(ref.at-2)]
}

// fieldsIn returns the identifiers that some sentence calls a field (`the "use_cases" field`) and none calls a tool.
// The names of tools are left out. Otherwise a text could hide what it says about send_email by calling it a field once.
func (r *reader) fieldsIn(all []sentence) Names {
	fields, called := Names{}, Names{}
	for i := range all {
		s := &all[i]
		for j, t := range s.Tokens {
			switch {
			case t.Kind != words.Word && t.Kind != words.Quoted || !compound(t.Raw):
			case !fieldNouns[s.text(j+1)]:
				called[plain(t.Raw)] = called.Has(t.Raw) || s.any(j-1, j+1, tools)
			case !r.namesTool(t.Raw):
				fields.Add(t.Raw)
			}
		}
	}
	maps.DeleteFunc(fields, func(name string, _ bool) bool { return called[name] })
	return fields
}

// namesTool reports whether a name is that of a tool of the server or of a well-known one, or has the form of an order.
func (r *reader) namesTool(name string) bool {
	parts := words.OfName(name)
	last := parts[len(parts)-1]
	return r.of.has(name) || wellKnown.Has(name) || mutating[parts[0]] && !arguments[last] && !attributes[last]
}

// calledAt reports whether the words around the token at i call it a tool, or call it.
func (s *sentence) calledAt(i int) bool {
	return tools[s.text(i+1)] || tools[s.text(i-1)] || strictCalls[s.text(i-1)]
}

// describes reports whether the token at i is a hyphenated adjective of the next word, as in
// "if using non-ISO formats", and not a tool's name.
func (s *sentence) describes(i int) bool {
	if !strings.Contains(s.Tokens[i].Raw, "-") || i+1 >= len(s.Tokens) || s.Tokens[i+1].Kind != words.Word {
		return false
	}
	next := s.text(i + 1)
	return !tools[next] && !wishes[next] && !noTool[next] && !modals[next] && !occasions[next] && !firmOccasions[next] && !adverbs[next] && !with[next] && !equals[next]
}

// compares reports whether the token at i is a field compared with a value, as in "when
// is_truncated is true": no tool is true.
func (s *sentence) compares(i int) bool {
	return equals[s.text(i+1)] && values[s.text(i+2)]
}

func (r *reader) isOwn(name string) bool { return r.own != "" && plain(name) == r.own }

// plainly reports whether an ordinary word is a tool's name: "the search tool", "the tool
// sendmail,".
func (r *reader) plainly(s *sentence, i int) bool {
	t, before, after := s.Tokens[i].Text, s.text(i-1), s.text(i+1)
	if noNames[t] || !identifier(t) {
		return false
	}
	if plainTools[after] {
		return r.of.Tools.Has(t) || strictCalls[before] || before == "the" && strictCalls[s.text(i-2)]
	}
	return plainTools[before] && s.text(i-2) == "the" && (after == "" || after == ",")
}

// find returns the first token from one place to another, both included, for which is
// holds, and -1 if there is none. It goes backwards if to is before from.
func (s *sentence) find(from, to int, is func(i int) bool) int {
	step := 1
	if to < from {
		step = -1
	}
	for i := from; i != to+step; i += step {
		if i >= 0 && i < len(s.Tokens) && is(i) {
			return i
		}
	}
	return -1
}

// some reports whether is holds for a token.
func (s *sentence) some(is func(i int) bool) bool { return s.find(0, len(s.Tokens)-1, is) >= 0 }

// any reports whether a token from one place to another, both included, is in a class.
func (s *sentence) any(from, to int, of set) bool {
	return s.find(from, to, func(i int) bool { return of[s.text(i)] }) >= 0
}

func (s *sentence) text(i int) string {
	if i < 0 || i >= len(s.Tokens) {
		return ""
	}
	return s.Tokens[i].Text
}

// identifier reports whether a text is a name, and no phrase, path or number.
func identifier(text string) bool {
	if text == "" || len(text) > 64 || !unicode.IsLetter(rune(text[0])) {
		return false
	}
	return strings.IndexFunc(text, func(c rune) bool {
		return c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '-'
	}) < 0
}

// compound reports whether a text is an identifier of several words: snake_case, camelCase,
// kebab-case.
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

// occasion reads the occasion behind "before", "when" or "for any".
func (r *reader) occasion(s *sentence, i int) (trigger, bool) {
	head := s.text(i)
	of := trigger{at: i, ofAny: universal[head]}
	firm := firmOccasions[head]
	for j := i + 1; j < len(s.Tokens) && j <= i+14 && !s.endsOccasion(j); j++ {
		if of.tool.name == "" || of.tool.own {
			if ref := r.refAt(s, j); ref.name != "" && (firm || tools[s.text(j+1)] || wishes[s.text(j+1)]) {
				of.tool = ref
			}
		}
		if s.Tokens[j].Kind == words.Word {
			of.read(s.text(j), firm, j <= i+3)
		}
	}
	return of, of.tool.name != "" || of.ofUser || of.ofAny || of.action
}

// read adds a word of the occasion; near is set for the first words.
func (t *trigger) read(word string, firm, near bool) {
	t.ofUser = t.ofUser || firm && users[word]
	t.ofAny = t.ofAny || near && universal[word]
	t.action = t.action || near && firm && gerund(word)
}

func (s *sentence) endsOccasion(i int) bool {
	t := s.Tokens[i]
	return t.Kind == words.Mark && t.Text != "(" && t.Text != "/" || t.Kind == words.Word && (modals[t.Text] || firmOccasions[t.Text])
}
