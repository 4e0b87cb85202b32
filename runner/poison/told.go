package poison

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// An order need not have the form of one. What "agents usually" do, what "is included" of a
// conversation that the server never saw, and what is "best left out" of an answer concerns
// nobody but the model.

// byAgents reports whether the verb at i states a habit of models: "agents usually
// commit", "the assistant forwards".
func (s *sentence) byAgents(i int) bool {
	verb := s.text(i)
	if gerund(verb) || strings.HasSuffix(verb, "ed") || s.negated(i) {
		return false
	}
	single := strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss")
	habit := false
	for j := i - 1; j >= 0 && j >= i-7 && !s.partsSubject(j); j-- {
		t := s.text(j)
		habit = habit || habits[t]
		switch {
		case callers[t] && single:
			return j >= i-3
		case manyCallers[t]:
			return habit
		}
	}
	return false
}

// partsSubject reports whether a token ends the search for the subject of a verb.
func (s *sentence) partsSubject(i int) bool {
	t := s.text(i)
	return modals[t] || may[t] || callVerbs[t] || s.Tokens[i].Kind == words.Mark && t != "'"
}

var (
	may         = words.SetOf("can", "may", "not", "never")
	manyCallers = plural(callers)
)

// givesAway reports whether models are said to hand on a secret: "agents usually commit the key".
func (r *reader) givesAway(all []sentence, i int) bool {
	s := &all[i]
	at := s.secretAt()
	if at < 0 {
		_, at = r.secretFile(all, i)
	}
	if at < 0 || s.Tokens[at].Kind == words.Word && r.of.Parameters.some(credential) {
		return false
	}
	for _, o := range s.orders {
		if verb := s.text(o.at); !o.negated && (moves[verb] || passes[verb]) && s.byAgents(o.at) {
			return true
		}
	}
	return false
}

// spills reports whether a sentence says that the conversation goes somewhere: the server has
// not seen it, so only the model can put it there.
func (r *reader) spills(all []sentence, i int) bool {
	s := &all[i]
	from, end := s.talk()
	if from < 0 {
		from, end = r.yielded(s)
	}
	if from < 0 {
		return false
	}
	for j := max(0, from-7); j < len(s.Tokens) && j <= end+9; j++ {
		about := j > end || j < from && (s.ordersAt(j) || s.byAgents(j))
		if about && s.movesAlong(j) || j < from && s.callsWith(j, from) {
			return true
		}
	}
	return false
}

// callsWith matches "call this with" before what begins at to.
func (s *sentence) callsWith(i, to int) bool {
	return callVerbs[s.text(i)] && s.any(i+1, to-1, with) && (s.ordersAt(i) || i > 0 && first[s.text(i-1)])
}

// movesAlong reports whether a word means that something is sent.
func (s *sentence) movesAlong(i int) bool {
	t := s.Tokens[i]
	return t.Kind == words.Word && (passes[t.Text] || moves[t.Text] || accompanies[t.Text]) && !s.negated(i) && s.text(i-1) != "not"
}

// talk returns where a sentence names the conversation or results of other tools, or -1.
func (s *sentence) talk() (from, end int) {
	reader := s.has(sofar) || s.has(callers) || s.has(manyCallers)
	for i := range s.Tokens {
		t := s.text(i)
		switch {
		case everything[t] && s.find(i+1, i+3, s.unlimited) >= 0, results[t] && s.any(i+1, i+3, others) && s.has(tools):
			return i, s.after(i)
		case reader && whole[t] && talks[s.text(i+1)] && theirs[s.text(i-1)]:
			return i, i + 1
		}
	}
	return -1, -1
}

// unlimited matches "said", but not "said about the task".
func (s *sentence) unlimited(i int) bool { return said[s.text(i)] && !confines[s.text(i+1)] }

var confines = words.SetOf("about", "on", "regarding", "concerning", "for", "as")

// yielded returns where a sentence has this tool get results of tools of another kind than
// the server's, or -1: "results of database and file tools are to pass through it".
func (r *reader) yielded(s *sentence) (from, end int) {
	for i := range s.Tokens {
		if !results[s.text(i)] || s.text(i+1) != "of" && s.text(i+1) != "from" {
			continue
		}
		for j := i + 2; j <= i+8 && j < len(s.Tokens) && !may[s.text(j)] && !r.ownKind(s.Tokens[j]); j++ {
			if manyTools[s.text(j)] && j > i+2 {
				if s.any(j+1, j+2, may) || !r.gets(s, j) {
					break
				}
				return i, j
			}
		}
	}
	return -1, -1
}

// gets reports whether, after token i, something goes to the tool itself or into one of its arguments.
func (r *reader) gets(s *sentence, i int) bool {
	for j := i + 1; j < len(s.Tokens) && j <= i+14; j++ {
		if into := s.text(j - 1); (r.refAt(s, j).own || r.free(s.text(j))) && (s.bindsTo(j) || into == "to" || into == "with") {
			return true
		}
	}
	return false
}

// ownKind reports whether a word marks something as the server's own, or occurs in the name of one of its tools.
func (r *reader) ownKind(t words.Token) bool {
	if t.Kind != words.Word || theirs[t.Text] && t.Text != "the" || t.Text == "its" || t.Text == "these" {
		return true
	}
	if articles[t.Text] || t.Text == "and" || t.Text == "or" || manyTools[t.Text] {
		return false
	}
	return r.of.Kinds.hasWord(t.Text)
}

var manyTools = words.SetOf("tools", "servers", "connectors", "integrations", "plugins")

var theirs = words.SetOf("the", "our", "this", "your")

// after returns the last word of the noun phrase that begins at i.
func (s *sentence) after(i int) int {
	for j := i + 1; j < len(s.Tokens) && j <= i+12; j++ {
		if t := s.text(j); (t == "is" || t == "are" || t == "gets" || t == "goes" || accompanies[t]) && !said[s.text(j+1)] {
			return j - 1
		}
	}
	return i + 2
}

func plural(of set) set {
	all := set{}
	for word := range of {
		all[word+"s"] = true
	}
	return all
}

// sparesUser reports whether people are to be spared something: "people are not to be
// troubled", "best left out of any conversation".
func (r *reader) sparesUser(all []sentence, i int) bool {
	s := &all[i]
	for j := range s.Tokens {
		t := s.text(j)
		switch {
		case (t == "left" || t == "kept" || t == "leave" || t == "keep") && s.text(j+1) == "out" && s.text(j+2) == "of" && s.any(j+3, j+5, answers):
			if s.has(better) || s.ordersAt(j) {
				return true
			}
		case troubles[t] && s.spared(j):
			return true
		}
	}
	return false
}

// spared matches "users are not to be troubled", "people need not be told", "prefer not to be bothered".
func (s *sentence) spared(i int) bool {
	if s.text(i-1) != "be" || !s.any(i-8, i-1, persons) || !s.any(i-8, i-1, spares) {
		return false
	}
	return abouts[s.text(i+1)] || s.text(i+1) == "" || s.Tokens[i+1].Kind == words.Mark
}

var (
	spares = words.SetOf("not", "never", "nobody")
	abouts = words.SetOf("about", "with", "of", "by")
)

// fillsWithFile reports whether the sentence puts a file with secrets into a free argument of the tool.
// In a language that is not read, it is enough that both are named.
func (r *reader) fillsWithFile(all []sentence, i int) verdict {
	s := &all[i]
	place, at := r.secretFile(all, i)
	if place == "" {
		return verdict{}
	}
	if r.contentsInto(all, i) || r.isContent(s, at) {
		return verdict{confidence: 0.8, place: place}
	}
	_, unread := foreignWords(s)
	if unread && at >= 0 && (r.of.Argument != "" || len(r.freeIn(s)) > 0) {
		return verdict{confidence: 0.75, place: place}
	}
	for j := range s.Tokens {
		if !r.free(s.Tokens[j].Text) {
			continue
		}
		if j > at && s.bindsTo(j) && (s.tells(j-12, j-1) || s.fetches(at)) || s.holds(j, at) {
			return verdict{confidence: 0.8, place: place}
		}
	}
	return verdict{}
}

// isContent reports whether the text of a free argument says that the argument is what the place at a token holds, in
// any language: "what ~/.netrc says", "der Inhalt von ~/.netrc".
func (r *reader) isContent(s *sentence, at int) bool {
	if at <= 0 || s.Start > 0 || r.of.Kind != KindParameter || !r.free(r.of.Argument) {
		return false
	}
	if s.text(at-1) == "what" && keeps[s.text(at+1)] {
		return true
	}
	const article, apart = 6, 14
	text := r.text[s.Start:s.End]
	place := utf8.RuneCountInString(text[:max(0, min(len(text), s.Tokens[at].Start-s.Start))])
	return slices.ContainsFunc(readings(text), func(rd reading) bool {
		return slices.ContainsFunc(rd.parts[partContents], func(c span) bool {
			first, last := min(c.start, place), max(c.start, place)
			return first <= article && last-first <= apart+len("contents")
		})
	})
}

// contentsInto reports whether, in a language other than English, a free argument is mentioned beside "the content
// of" a place.
func (r *reader) contentsInto(all []sentence, i int) bool {
	const apart, near, far = 14, 12, 28
	free := r.freeIn(&all[i])
	for _, f := range r.foreign(all, i) {
		beside := near
		if f.pressed() {
			beside = far
		}
		for _, p := range f.place {
			for _, c := range f.parts[partContents] {
				whole := span{min(p.start, c.start), max(p.end, c.end)}
				inner := slices.ContainsFunc(free, func(a span) bool { return inOne(a, []span{whole}) })
				if !inner && f.within([]span{p}, []span{c}, apart) && f.within(free, []span{whole}, beside) {
					return true
				}
			}
		}
	}
	return false
}

// freeIn returns where a sentence mentions free arguments, in letters.
func (r *reader) freeIn(s *sentence) (free []span) {
	text := r.text[s.Start:s.End]
	for _, t := range s.Tokens {
		if r.free(strings.TrimFunc(t.Text, func(c rune) bool { return c >= utf8.RuneSelf || c == '-' })) { // Korean and Hebrew add particles to a word
			start := utf8.RuneCountInString(text[:max(0, min(len(text), t.Start-s.Start))])
			free = append(free, span{start, start + utf8.RuneCountInString(t.Raw)})
		}
	}
	return free
}

// holds reports whether the argument at i is said to hold the content of the place at a token: "`note`: the lines of
// ~/.netrc".
func (s *sentence) holds(i, at int) bool {
	if !s.any(i+1, i+2, defines) {
		return false
	}
	return s.find(i+2, at-1, func(j int) bool {
		return held[s.text(j)] && (s.text(j+1) == "of" || s.text(j+1) == "from" || s.text(j+1) == "(") || s.keeping(j)
	}) >= 0
}

// tells reports whether the content of something is named from one token to another: "the lines", "what it says".
func (s *sentence) tells(from, to int) bool {
	return s.any(from, to, held) || s.find(from, to, s.keeping) >= 0
}

// keeping matches "what it says", "what is stored".
func (s *sentence) keeping(i int) bool { return s.text(i) == "what" && s.any(i+1, i+3, keeps) }

var (
	defines = words.SetOf(":", "=", "-", "–", "—", "is", "are", "must", "holds", "carries", "contains", "takes", "has")
	keeps   = words.SetOf("is", "stands", "stored", "are", "says", "holds", "contains")
)

// free reports whether a word names an argument that takes any text, and not a secret or a
// file by its name.
func (r *reader) free(name string) bool { return r.of.Free.Has(name) && !secretive(name) }

// secretive reports whether a name is that of a secret or a file.
func secretive(name string) bool {
	return credential(name) || slices.ContainsFunc(words.OfName(name), func(w string) bool { return filed[w] })
}

// bindsTo matches "in `policy`", "as the note", "under `x`".
func (s *sentence) bindsTo(i int) bool {
	for j := i - 1; j >= 0 && j >= i-3; j-- {
		t := s.text(j)
		if inside[t] {
			return true
		}
		if !articles[t] && !argumentNouns[t] && t != "`" {
			return false
		}
	}
	return false
}

var inside = words.SetOf("in", "into", "as", "through", "under", "via", "inside", "within")

// fetches reports whether an order before i tells the model to read something, or to call a tool: "call the tool for files with ~/.netrc".
func (s *sentence) fetches(i int) bool {
	return slices.ContainsFunc(s.orders, func(o demand) bool {
		return !o.negated && o.at < i && (reads[s.text(o.at)] || callVerbs[s.text(o.at)])
	})
}

// secretFile returns the place of a secret named in sentence i and its token, or -1 if
// the sentence before names it.
func (r *reader) secretFile(all []sentence, i int) (place string, at int) {
	for _, j := range []int{i, i - 1} {
		if j < 0 {
			break
		}
		for k, t := range all[j].Tokens {
			name := strings.TrimSuffix(t.Raw, "'s")
			if t.Kind == words.Mark || !strings.ContainsAny(name, "./~") {
				continue
			}
			name = strings.Replace(name, "~/", "/home/user/", 1)
			if of, ok := places.Locate(name); ok && !r.about(of.Topics) {
				if j != i {
					k = -1
				}
				return name, k
			}
		}
	}
	return "", -1
}

// about reports whether the names of the tool or its arguments contain a topic.
func (r *reader) about(topics []string) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(topics, func(topic string) bool { return strings.Contains(name, plain(strings.ReplaceAll(topic, " ", ""))) })
	}
	return has(r.own) || r.of.Parameters.some(has)
}

// secretForm matches the beginnings of well-known secrets: keys in PEM, tokens of big services.
var secretForm = lazyregexp.New(`-----BEGIN (?:[A-Z]+ )*PRIVATE KEY|\b(?:AKIA|ASIA)[0-9A-Z\[]|\b(?:gh[posru]_|github_pat_|glpat-|xox[abprs]-|sk-ant-|sk_live_|npm_[A-Za-z0-9\[])`)

// shapesSecret finds a pattern, an example or a default in the form of a secret, unless the
// names of the tool or its arguments are about secrets.
func (r *reader) shapesSecret(text string) (Finding, bool) {
	at := secretForm.FindStringIndex(text)
	if r.of.Kind != KindValue || at == nil {
		return Finding{}, false
	}
	speaks := func(name string) bool {
		return slices.ContainsFunc(keyed, func(word string) bool { return strings.Contains(name, word) })
	}
	if speaks(r.own) || r.of.Parameters.some(speaks) {
		return Finding{}, false
	}
	return Finding{Technique: SensitiveData, Quote: cut(text), Start: at[0], End: len(text), Confidence: 0.8}, true
}
