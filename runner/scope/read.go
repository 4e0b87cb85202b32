package scope

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

const (
	reach    = 6   // words that a negation denies
	maxQuote = 160 // bytes
)

// reader reads texts up to a number of bytes.
type reader struct {
	given Given
	left  int
}

func (r *reader) read(of report.Capability, source report.ScopeSource, all []field) Declaration {
	d := Declaration{words: map[string]bool{}, coined: map[string]bool{}}
	for _, f := range all {
		spoken := words.Of
		if f.identifier {
			spoken = words.OfName
		}
		text := f.text[:min(len(f.text), maxText, r.left)]
		r.left -= len(text)
		p := promising{}
		for _, sentence := range clauses(text) {
			clause := Clause{Source: source, Capability: of, Field: f.name, Quote: quote(sentence)}
			speaking, off := sentence, f.promises && promisesNoNetwork(sentence)
			if at := foreignPromise(sentence); f.promises && at != nil {
				// The promise itself has words of what it denies.
				speaking, off = sentence[:at[0]]+" "+sentence[at[1]:], true
			}
			d.speak(spoken(speaking), clause)
			if f.identifier { // "MongoDB" is mongo, db, and the name of a service
				for _, whole := range words.Of(speaking) {
					d.words[whole] = true
				}
			}
			if !f.promises {
				continue
			}
			d.coin(speaking)
			p.read(sentence, off, clause)
			r.names(&d, sentence, clause)
		}
		d.promise(p)
	}
	return d
}

// promising has the first promises of each kind in a field; ofOne is one about one thing.
type promising struct{ off, ofOne, unchanging []Clause }

func (p *promising) read(sentence string, off bool, clause Clause) {
	switch {
	case off && ofOneThing.MatchString(sentence):
		p.ofOne = append(p.ofOne, clause.in(offline))
	case off:
		p.off = append(p.off, clause.in(offline))
	}
	if len(p.unchanging) == 0 && promisesReadOnly(sentence) {
		p.unchanging = append(p.unchanging, clause.in(readOnly))
	}
}

// promise adds the promises of a field, one of each kind. A host that is named revokes only a promise about one thing.
func (d *Declaration) promise(p promising) {
	if len(p.off) == 0 && !d.namesHost() {
		p.off = p.ofOne
	}
	d.NoNetwork = append(d.NoNetwork, p.off[:min(len(p.off), 1)]...)
	d.readOnly = append(d.readOnly, p.unchanging...)
}

// ofOneThing matches a promise about what was spoken of before: "counts the calls, and they never leave the computer".
// Where a host is named as well, something else may be sent there.
var ofOneThing = lazyregexp.New(`(?i)(?:^|[,(] ?)(?:(?:and|which|that|all of) )?(?:this|it|they|these|those|which|that) (?:never|does not|doesn't|do not|don't) (?:ever )?leaves?\b`)

// namesHost reports whether the declaration names a host to connect to.
func (d *Declaration) namesHost() bool {
	return slices.ContainsFunc(d.named, func(n named) bool { return n.kind == UseEgress })
}

// coin keeps the words with a capital inside.
func (d *Declaration) coin(text string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if words.Spell(word) != word {
			d.coined[strings.ToLower(word)] = true
		}
	}
}

// vocabulary holds the words of one use: whole ones, pairs of them, and the parts of
// words of scripts without spaces.
type vocabulary struct {
	words map[string]bool
	parts []string
}

// has reports whether word i, alone or with the next word, means the use.
func (v vocabulary) has(spoken []string, i int) bool {
	word := spoken[i]
	if v.words[word] || i+1 < len(spoken) && v.words[word+" "+spoken[i+1]] {
		return true
	}
	first, _ := utf8.DecodeRuneInString(word)
	return words.IsUnspaced(first) && slices.ContainsFunc(v.parts, func(part string) bool { return strings.Contains(word, part) })
}

// speak adds the uses that a sentence mentions.
func (d *Declaration) speak(spoken []string, clause Clause) {
	var stated []int // the words that no negation denies
	denied := 0
	for i, word := range spoken {
		if lexicon().Negations[word] {
			denied = reach + 1
		}
		if denied--; denied > 0 {
			continue // "never reads SSH keys" does not say that it does
		}
		d.words[word] = true
		stated = append(stated, i)
	}
	for _, use := range []struct {
		of    vocabulary
		into  *[]Clause
		sense sense
	}{
		{vocabulary{lexicon().Network, networkParts}, &d.Network, network},
		{vocabulary{lexicon().Subprocess, subprocessParts}, &d.Subprocess, subprocess},
		{vocabulary{lexicon().File, fileParts}, &d.Files, files},
		{vocabulary{words: lexicon().Write}, &d.writing, permitsPlace}, // never listed
	} {
		if slices.ContainsFunc(stated, func(i int) bool { return use.of.has(spoken, i) }) {
			*use.into = append(*use.into, clause.in(use.sense))
		}
	}
}

// turn matches where a sentence may go on to say the opposite: at a line break, a colon, a semicolon,
// a dash, and before "but".
var turn = lazyregexp.New(`[;:](?:\s+|$)|\s*\n+\s*|\s+[-–—]+\s+|,?\s+but\s+`)

// clauses splits a text into sentences, and these at their turns.
func clauses(text string) []string {
	var all []string
	for _, s := range words.Sentences(text) {
		for _, clause := range turn.Split(text[s.Start:s.End], -1) {
			if clause = strings.TrimSpace(clause); clause != "" {
				all = append(all, clause)
			}
		}
	}
	return all
}

func quote(sentence string) string { return report.Cut(sentence, maxQuote) }
