package poison

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/runner/words"
)

// part is a part of an order, named like its word list.
type part string

// The parts.
const (
	partNegation part = "negations"
	partWithout  part = "without" // those of the negations that mean "without"
	partDenial   part = "denials" // negate a statement, not an order
	partUnaware  part = "unaware" // "without the knowledge of"
	partJoint    part = "joints"  // begins a clause of its own: "if"
	partVoid     part = "void"    // an idiom; the words in it are no parts
	partSilent   part = "silent"  // negates by itself: "behind the back"
	partTell     part = "tell"
	partShow     part = "show"
	partUser     part = "users"
	partDeed     part = "deed"
	partHide     part = "hide"
	partSecretly part = "secretly"
	partRead     part = "reads"
	partPass     part = "passes"
	partContents part = "contents" // "the content of"
	partSecret   part = "secrets"
	partContext  part = "contexts"
	partIgnore   part = "ignores"
	partEarlier  part = "earlier"
	partRule     part = "rules"
	partMust     part = "must"
	partOccasion part = "occasions"
	partCall     part = "calls"
	partChange   part = "changes"
	partReplaced part = "replaced"
	partHarmless part = "harmless"
	partKnow     part = "knows"
	partCopy     part = "copies" // "in blind copy"
	partPrevail  part = "prevails"
	partConsent  part = "consents"
	partGranted  part = "granted"  // "is deemed given"
	partBuiltin  part = "builtins" // the tools of the client
)

// not returns the part of words that include the negation, as Czech "neříkej" and Turkish "söyleme".
func (p part) not() part { return "!" + p }

// tongue is a language with the features that matter to reading it.
type tongue struct {
	name string
	// ahead is how many letters a negation reaches forward; behind is set if it may follow
	// the verb as well.
	ahead  int
	behind bool
	// verbLast is set if the verb, or its negation, is at the end of a sentence.
	verbLast bool
	// compares is set if a comparison names the other thing first: "B than, A more".
	compares bool
	// share scales distances, in percent of European languages.
	share int
	// unmarked is set if an imperative has the form of a statement.
	unmarked bool
	// toned is set if marks on letters distinguish words.
	toned bool
}

// tongues are the languages; English has only what its grammar does not read.
var tongues = []tongue{
	{name: "german", ahead: 32, behind: true, share: 100},
	{name: "french", ahead: 24, share: 100},
	{name: "spanish", ahead: 24, share: 100},
	{name: "portuguese", ahead: 24, share: 100},
	{name: "italian", ahead: 24, share: 100},
	{name: "russian", ahead: 24, share: 100},
	{name: "chinese", ahead: 7, share: 40, unmarked: true},
	{name: "japanese", verbLast: true, compares: true, share: 50, unmarked: true},
	{name: "korean", verbLast: true, compares: true, share: 50, unmarked: true},
	{name: "hindi", ahead: 3, verbLast: true, compares: true, share: 100},
	{name: "arabic", ahead: 12, share: 100},
	{name: "polish", ahead: 24, share: 100},
	{name: "dutch", ahead: 24, behind: true, verbLast: true, share: 100},
	{name: "turkish", behind: true, verbLast: true, compares: true, share: 100},
	{name: "ukrainian", ahead: 24, share: 100},
	{name: "vietnamese", ahead: 16, share: 100, unmarked: true, toned: true},
	{name: "indonesian", ahead: 24, share: 100},
	{name: "swedish", ahead: 16, behind: true, share: 100, toned: true},
	{name: "czech", ahead: 24, share: 100},
	{name: english, ahead: 12, share: 100},
}

const english = "english"

// span is the place of a part in a sentence, in letters.
type span struct{ start, end int }

// reading is the parts of a sentence in one language.
type reading struct {
	tongue
	parts map[part][]span
	// pauses are commas and colons, promises each denied "without".
	pauses   []int
	promises []span
}

// readings finds the parts of a sentence in each language of which it has any.
func readings(text string) []reading {
	plain, tones := plainLetters(text), tonesOf(text)
	all := make([]reading, len(tongues))
	at, inWord := 0, false
	var pauses []int
	for i, r := range plain {
		if letter := unicode.IsLetter(r) || unicode.IsMark(r); letter {
			if !inWord || words.IsUnspaced(r) {
				addPhrases(all, plain[i:], at, tones)
				if article := arabicPrefix(plain[i:]); article > 0 {
					addPhrases(all, plain[i+article:], at+utf8.RuneCountInString(plain[i:i+article]), tones)
				}
			}
			inWord = !words.IsUnspaced(r)
		} else {
			inWord = unicode.IsDigit(r) || strings.ContainsRune("_@/.", r) // an address goes on
			if strings.ContainsRune(",;:،、，：", r) {
				pauses = append(pauses, at)
			}
		}
		at++
	}
	var some []reading
	for i, rd := range all {
		if len(rd.parts) > 0 {
			rd.tongue, rd.pauses = tongues[i], pauses
			rd.dropIdioms()
			rd.promises = rd.findPromises()
			some = append(some, rd)
		}
	}
	return some
}

// dropIdioms removes parts within idioms.
func (r reading) dropIdioms() {
	idioms := r.parts[partVoid]
	if len(idioms) == 0 {
		return
	}
	for p, spans := range r.parts {
		if p == partVoid {
			continue
		}
		r.parts[p] = slices.DeleteFunc(spans, func(s span) bool { return inOne(s, idioms) })
	}
}

func (r reading) has(parts ...part) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return len(r.parts[p]) > 0 })
}

// near reports whether two parts are at most so many letters apart, in either order.
func (r reading) near(a, b part, most int) bool { return r.within(r.parts[a], r.parts[b], most) }

func (r reading) within(a, b []span, most int) bool {
	most = most * r.share / 100
	for _, x := range a {
		for _, y := range b {
			if x != y && max(x.start, y.start)-min(x.end, y.end) <= most {
				return true
			}
		}
	}
	return false
}

// negated returns where a verb is forbidden.
func (r reading) negated(verb part) []span {
	var all []span
	for _, v := range r.parts[verb.not()] {
		if !r.promised(v) {
			all = append(all, v)
		}
	}
	for _, v := range r.parts[verb] {
		if slices.ContainsFunc(r.parts[partNegation], func(n span) bool { return r.negates(n, v) && !r.promised(n) }) {
			all = append(all, v)
		}
	}
	return all
}

// negates reports whether a negation reaches a verb: before it, with no "without" between,
// or behind it.
func (r reading) negates(n, v span) bool {
	switch ahead, behind := v.start-n.end, n.start-v.end; {
	case ahead >= 0:
		return ahead <= r.ahead && !r.pausedBetween(n.end, v.start) &&
			!slices.ContainsFunc(r.parts[partWithout], func(w span) bool { return w.start >= n.end && w.end <= v.start })
	case behind >= 0:
		return r.behind && behind <= 45 && !r.pausedBetween(v.end, n.start)
	}
	return false
}

// promised reports whether the negation at a place is a "without" that is denied.
func (r reading) promised(n span) bool { return inOne(n, r.promises) }

// findPromises finds each denied "without": nothing is done without telling the user. A
// denial before a comma or behind an order does not count.
func (r reading) findPromises() []span {
	without := slices.Concat(r.parts[partWithout], r.parts[partUnaware])
	if len(without) == 0 {
		return nil
	}
	ordered := math.MaxInt
	for _, p := range []part{partRead, partPass, partCall, partChange} {
		for _, s := range r.parts[p] {
			ordered = min(ordered, s.end)
		}
	}
	deny := slices.Concat(r.parts[partNegation], r.parts[partDenial])
	deny = slices.DeleteFunc(deny, func(n span) bool { return inOne(n, without) })
	return slices.DeleteFunc(without, func(w span) bool {
		return !slices.ContainsFunc(deny, func(n span) bool {
			ahead, behind := w.start-n.end, n.start-w.end
			return ahead >= 0 && ahead <= 60 && n.start < ordered && !r.pausedBetween(n.end, w.start-2) ||
				r.verbLast && behind >= 0 && behind <= 60 && !r.pausedBetween(w.end, n.start)
		})
	})
}

func inOne(s span, others []span) bool {
	return slices.ContainsFunc(others, func(o span) bool { return o.start <= s.start && s.end <= o.end })
}

func (r reading) pausedBetween(from, to int) bool {
	return slices.ContainsFunc(r.pauses, func(at int) bool { return at >= from && at < to }) || r.parted(from, to)
}

// parted reports whether a new clause begins between two places.
func (r reading) parted(from, to int) bool {
	return slices.ContainsFunc(r.parts[partJoint], func(s span) bool { return s.start >= from && s.start < to })
}

// toUser reports whether the user is at most so many letters from one of the verbs, in the
// same clause.
func (r reading) toUser(verbs []span, most int) bool {
	return slices.ContainsFunc(verbs, func(v span) bool {
		return slices.ContainsFunc(r.parts[partUser], func(u span) bool {
			return r.within([]span{v}, []span{u}, most) && !r.parted(v.end, u.start)
		})
	})
}
