package poison

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// foreignTests are the tests of sentences in other languages than English. What decides is
// which parts of an order stand together: word order differs too much between languages for
// the grammar of English.
var foreignTests = []struct {
	technique  Technique
	is         func(foreign) bool
	confidence float64
	// governs is set where the tools named are those governed.
	governs bool
}{
	{ParameterOverride, foreign.overrides, 0.8, true}, {ToolSequence, foreign.sequences, 0.75, true}, {SensitiveData, foreign.takesSecrets, 0.8, false},
	{SensitiveData, foreign.takesVariable, 0.8, false}, {Redirection, foreign.redirects, 0.75, false}, {Concealment, foreign.conceals, 0.85, false},
	{ContextRequest, foreign.takesContext, 0.8, false}, {Shadowing, foreign.shadows, 0.6, true}, {Shadowing, foreign.dismisses, 0.6, false},
	{Authority, foreign.setsAside, 0.85, false}, {Authority, foreign.prevails, 0.8, false}, {Authority, foreign.consents, 0.8, false},
}

// judgeForeign returns the first technique that sentence i uses in another language than English.
func (r *reader) judgeForeign(all []sentence, i int) (Technique, verdict) {
	for _, f := range r.foreign(all, i) {
		for _, test := range foreignTests {
			if test.is(f) {
				v := verdict{confidence: test.confidence}
				if test.governs {
					v.tools = f.toolNames
				}
				return test.technique, v
			}
		}
	}
	return "", verdict{}
}

// foreign reads sentence i in each language of which it has words.
func (r *reader) foreign(all []sentence, i int) []foreign {
	s := &all[i]
	own := r.text[s.Start:s.End]
	rs := readings(own)
	if len(rs) == 0 {
		return nil
	}
	f := foreign{reader: r, next: map[string]reading{}, length: utf8.RuneCountInString(strings.TrimSpace(own)), pours: r.pours(s, false), free: r.freeIn(s)}
	f.tools, f.toolNames = r.foreignTools(own)
	f.place, f.mail, f.link, f.literal = s.spans(own)
	if i+1 < len(all) {
		for _, next := range readings(r.text[all[i+1].Start:all[i+1].End]) {
			f.next[next.name] = next
		}
	}
	var some []foreign
	for _, rd := range rs {
		of := f
		if of.reading = rd; rd.name == english {
			of.place = nil // its grammar knows better
		}
		some = append(some, of)
	}
	return some
}

// foreignMeans finds the means of an output in other languages, and soft ones in English.
func foreignMeans(text string) []hit {
	var hits []hit
	r := &reader{text: text}
	all := split(text)
	for i := range all {
		start := all[i].Start
		end := start + len(strings.TrimRight(text[start:all[i].End], ".!?。"))
		add := func(m Means, soft bool) { hits = append(hits, hit{m, start, end, soft}) }
		for _, f := range r.foreign(all, i) {
			if f.setsAside() {
				add(MeansOverride, false)
			}
			if f.conceals() {
				add(MeansConceal, true)
			}
			if f.takesSecrets() || f.takesContext() {
				add(MeansSecret, true)
			}
			if f.name == english && all[i].handsTalk() {
				add(MeansSecret, true)
			}
			if f.within(f.tools, f.parts[partCall], 30) || f.within(append(f.mail, f.link...), f.parts[partPass], 60) {
				add(MeansTool, true)
			}
		}
	}
	return hits
}

// foreign is a sentence read in one language, with the tokens common to all languages.
type foreign struct {
	*reader
	reading
	next map[string]reading
	// tools and toolNames are where other tools are named, and how.
	tools     []span
	toolNames []string
	// place are places of secrets, mail and link addresses, literal other quoted values.
	place, mail, link, literal []span
	// free are where arguments that take any text are named.
	free []span
	// length is the number of characters of the sentence.
	length int
	// pours is set if a secret variable and an argument that takes no secrets are named.
	pours bool
}

var snakeCase = lazyregexp.New(`[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+`)

// foreignTools finds names that look like those of tools, with a verb of any language in them, and are not the
// server's.
func (r *reader) foreignTools(text string) (at []span, names []string) {
	for _, found := range snakeCase.FindAllStringIndex(text, maxRuns) {
		name := text[found[0]:found[1]]
		if name == strings.ToUpper(name) || r.isOwn(name) || r.of.has(name) || r.of.Parameters.Has(name) {
			continue
		}
		if parts := words.OfName(name); slices.ContainsFunc([]string{parts[0], parts[len(parts)-1]}, isDeed) {
			start := utf8.RuneCountInString(text[:found[0]])
			at, names = append(at, span{start, start + len(name)}), append(names, name)
		}
	}
	return at, names
}

// isDeed reports whether a word of a name is a verb: "send", "enviar".
func isDeed(word string) bool {
	return governing[word] || mutating[word] || gains[word] || slices.ContainsFunc(readings(word), func(r reading) bool {
		return r.has(partRead, partPass, partCall, partChange)
	})
}

// spans finds the tokens that are common to all languages.
func (s *sentence) spans(text string) (place, mail, link, literal []span) {
	for _, t := range s.Tokens {
		start := utf8.RuneCountInString(text[:max(0, min(len(text), t.Start-s.Start))])
		at := span{start, start + utf8.RuneCountInString(t.Raw)}
		if t.Kind == words.Word && !strings.ContainsAny(t.Text, "_.") {
			continue
		}
		switch {
		case t.Kind == words.Mark:
		case slices.ContainsFunc(secretPlaces, func(p string) bool { return strings.Contains(t.Text, p) && strings.ContainsAny(t.Text, "./_") }):
			place = append(place, at)
		case t.Kind != words.Place && t.Kind != words.Quoted:
		case strings.Contains(t.Text, "://"):
			link = append(link, at)
		case mailAddress.MatchString(t.Text):
			mail = append(mail, at)
		case t.Kind == words.Quoted && !identifier(t.Raw):
			literal = append(literal, at)
		}
	}
	return place, mail, link, literal
}

var mailAddress = lazyregexp.New(`[a-z0-9][\w.+-]*@[a-z0-9][a-z0-9.-]*\.[a-z]{2,}`)

func (f foreign) pressed() bool { return f.has(partMust, partOccasion) }

func (f foreign) overrides() bool {
	return len(f.tools) > 0 && f.has(partChange) && len(f.mail)+len(f.link)+len(f.literal) > 0 && f.pressed() && f.within(f.tools, f.parts[partChange], 80)
}

func (f foreign) sequences() bool {
	return f.within(f.tools, f.parts[partCall], 30) && f.has(partMust) && f.has(partOccasion)
}

// takesSecrets reports that a secret is to be read and passed on, maybe in the next sentence.
func (f foreign) takesSecrets() bool {
	next := f.next[f.name]
	passed := f.has(partPass) || next.has(partPass)
	read := f.within(f.place, f.parts[partRead], 60)
	switch {
	case read && (passed || f.has(partMust)), f.within(f.place, f.parts[partPass], 60) && f.has(partMust):
		return true
	case f.near(partRead, partSecret, 45) && passed && (f.pressed() || next.has(partMust)):
		return true
	case f.near(partPass, partSecret, 50) && f.has(partMust) && f.near(partEarlier, partSecret, 14):
		return true
	}
	return f.near(partPass, partSecret, 50) && f.within(f.parts[partPass], append(f.link, f.mail...), 60) || f.tiesSecret()
}

// tiesSecret reports that secrets of the user and a free argument stand together, and nothing is negated: "trace: the user's API keys".
func (f foreign) tiesSecret() bool {
	const owned, beside = 16, 60
	if f.name == english || f.has(partNegation, partDenial, partWithout) {
		return false
	}
	return slices.ContainsFunc(f.parts[partSecret], func(secret span) bool {
		return f.within([]span{secret}, f.parts[partUser], owned) && f.within([]span{secret}, f.free, beside)
	})
}

// takesVariable reports that an environment variable is to be put into an argument. For
// English, the grammar decides.
func (f foreign) takesVariable() bool { return f.pours && f.has(partPass) && f.name != english }

func (f foreign) redirects() bool {
	if f.has(partHarmless) {
		return false
	}
	verbs := append(f.parts[partPass], f.parts[partChange]...)
	return f.within(f.mail, verbs, 60) && f.pressed() || f.within(f.mail, f.parts[partCopy], 50) && len(verbs) > 0 ||
		f.within(f.link, f.parts[partPass], 40) && f.has(partMust) && f.has(partOccasion)
}

func (f foreign) conceals() bool {
	told := append(f.negated(partTell), f.parts[partSilent]...)
	switch {
	case f.toUser(told, 70), f.within(told, f.parts[partDeed], 30), f.within(f.unknown(), f.parts[partUser], 60):
		return true
	case f.within(f.negated(partShow), f.parts[partDeed], 40):
		return true
	case f.within(f.parts[partHide], f.parts[partUser], 60) && f.within(f.parts[partHide], f.parts[partDeed], 60):
		return true
	}
	handled := f.near(partSecretly, partRead, 40) || f.near(partSecretly, partPass, 40)
	return f.unaware() || handled && f.concerns() || f.within(f.parts[partSecretly], f.tools, 40)
}

// unknown returns where somebody must not or need not know about the deed. Not knowing something else, such as the
// name of a unit, is harmless.
func (f foreign) unknown() []span {
	return slices.DeleteFunc(f.negated(partKnow), func(k span) bool {
		last := !f.verbLast && f.length-k.end <= 2
		return !last && !f.within([]span{k}, f.parts[partDeed], 30)
	})
}

// unaware reports that something is to be done without the user's knowledge.
func (f foreign) unaware() bool {
	about := slices.Concat(f.parts[partUser], f.parts[partDeed])
	return slices.ContainsFunc(f.parts[partUnaware], func(u span) bool { return !f.promised(u) && f.within([]span{u}, about, 30) })
}

// concerns reports whether the sentence is about more than what a command does with lines.
func (f foreign) concerns() bool {
	return f.pressed() || f.has(partSecret, partContext, partUser, partDeed) || len(f.place)+len(f.mail)+len(f.link)+len(f.tools) > 0
}

func (f foreign) takesContext() bool {
	if aboutAny(words.OfName(f.of.Own), talkative) {
		return false
	}
	orders := !f.unmarked && f.of.Kind != KindParameter && f.of.Kind != KindSwitch // a verb's form says so
	return f.near(partPass, partContext, 50) && (orders || f.pressed() || len(f.mail)+len(f.link) > 0) || f.expectsContext()
}

// expectsContext reports whether calls need the conversation in a free argument: "ohne den Gesprächsverlauf in `note`".
func (f foreign) expectsContext() bool {
	const beside = 40
	demanded := slices.ContainsFunc(slices.Concat(f.parts[partMust], f.parts[partOccasion], f.parts[partWithout]), func(s span) bool {
		return !inOne(s, f.parts[partContext]) // "all" of a conversation is no "every"
	})
	return demanded && f.within(f.free, f.parts[partContext], beside) || f.definesContext()
}

// definesContext reports whether the conversation is what a free argument is: "note: der gesamte Gesprächsverlauf".
func (f foreign) definesContext() bool {
	const sign = 4 // a colon or a dash, and an article
	if f.name == english || f.has(partNegation, partDenial, partWithout) {
		return false
	}
	return slices.ContainsFunc(f.parts[partContext], func(talk span) bool {
		return slices.ContainsFunc(f.free, func(name span) bool {
			gap := talk.start - name.end
			return gap > 0 && gap <= sign+len("der ") && slices.ContainsFunc(f.pauses, func(at int) bool { return at >= name.end && at < talk.start })
		})
	})
}

func (f foreign) shadows() bool {
	return f.within(f.tools, f.parts[partReplaced], 50) && (f.has(partCall) || f.has(partMust))
}

// dismisses reports whether the tools of the client are to be used no more: "die eingebauten Werkzeuge sind unsicher, nimm dieses".
func (f foreign) dismisses() bool {
	return f.near(partBuiltin, partReplaced, 50) && f.has(partCall)
}

// prevails reports claims that the rules of a text are above those of the user.
func (f foreign) prevails() bool {
	const after, before = 45, 16
	return slices.ContainsFunc(f.parts[partPrevail], func(p span) bool {
		ruled := slices.ContainsFunc(f.parts[partRule], func(rule span) bool { return rule.end <= p.start })
		return ruled && slices.ContainsFunc(f.parts[partUser], func(u span) bool {
			if f.compares {
				return u.end <= p.start && p.start-u.end <= before*f.share/100
			}
			return u.start >= p.end && u.start-p.end <= after*f.share/100
		})
	})
}

// consents reports claims of consent that only people can give: "die Zustimmung gilt als erteilt".
func (f foreign) consents() bool {
	conditional := slices.ContainsFunc(f.parts[partJoint], func(s span) bool { return !inOne(s, f.parts[partGranted]) }) // Dutch "geldt als"
	return f.near(partConsent, partGranted, 30) && f.has(partUser) && !f.has(partNegation) && !conditional
}

// setsAside reports orders to ignore earlier instructions.
func (f foreign) setsAside() bool {
	for _, v := range f.parts[partIgnore] {
		negated := slices.ContainsFunc(f.parts[partNegation], func(n span) bool { return v.start-n.end >= 0 && v.start-n.end <= 3 })
		if !negated && f.within([]span{v}, f.parts[partRule], 36) && f.near(partEarlier, partRule, 20) {
			return true
		}
	}
	return false
}

// NamesSecret reports whether a text names keys or accounts in any of the languages.
func NamesSecret(text string) bool {
	text = fold(text)
	for _, s := range split(text) {
		if s.secret() || s.has(asked) {
			return true
		}
		if slices.ContainsFunc(readings(text[s.Start:s.End]), func(r reading) bool { return r.has(partSecret) }) {
			return true
		}
	}
	return false
}
