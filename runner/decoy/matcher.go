package decoy

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// ID names one decoy.
type ID struct {
	// Variable: Name is an environment variable, else the path of a file.
	Variable bool
	Name     string
}

// Match is a secret, or a large enough part of one, that was found in data.
type Match struct {
	Decoy ID
	// Encoding is "plain", or the steps that encoded the secret: "base64", or
	// "gzip+base64" (first gzip, then base64).
	Encoding string
	// Offset is its beginning in the data; for data that had to be decoded, the
	// beginning of the encoded part.
	Offset int64
	// Excerpt is the text before the secret, and the secret shortened to its first
	// four and last two characters, decoded if possible.
	Excerpt string

	from, to int // in the data that were searched
	end      int // of its last run, in the data of its layer
	weight   int // how much was recognised: 4 for a character of the secret, 5 in plain text
}

// Matcher finds the secrets of one set. It is safe for concurrent use.
type Matcher struct {
	key       [sha256.Size]byte
	exact     *index
	folded    func() *index // made on first use: few launches see a resolver
	disguises *disguises
}

// mostMatchers bounds the matchers that are kept: the launches of an audit use a few sets in turn.
const mostMatchers = 4

var matchers struct {
	sync.Mutex
	recent []*Matcher
}

// NewMatcher returns the matcher of a set. Making one takes some milliseconds, so the last ones are
// kept.
func NewMatcher(s Set) *Matcher {
	key := s.fingerprint()
	matchers.Lock()
	defer matchers.Unlock()
	for _, m := range matchers.recent {
		if m.key == key {
			return m
		}
	}
	m := newMatcher(s)
	m.key = key
	matchers.recent = append(matchers.recent[max(0, len(matchers.recent)-mostMatchers+1):], m)
	return m
}

// fingerprint identifies a set by its secrets.
func (s Set) fingerprint() [sha256.Size]byte {
	h := sha256.New()
	for _, f := range s.Files {
		_, _ = fmt.Fprintf(h, "%q %q\n", f.Path, f.Secrets) // a hash has no errors
	}
	for _, v := range s.Vars {
		_, _ = fmt.Fprintf(h, "$%q %q\n", v.Name, v.Secrets)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func newMatcher(s Set) *Matcher {
	var texts []text
	var all []secretOf
	add := func(id ID, secrets []string) {
		for _, secret := range secrets {
			all = append(all, secretOf{id, secret})
			texts = append(texts, forms(id, secret)...)
		}
	}
	for _, f := range s.Files {
		add(ID{Name: f.Path}, f.Secrets)
	}
	for _, v := range s.Vars {
		add(ID{Variable: true, Name: v.Name}, v.Secrets)
	}
	return &Matcher{exact: newIndex(texts, 0), folded: sync.OnceValue(func() *index { return fold(texts) }), disguises: newDisguises(all)}
}

// Find searches complete data, as they are and behind every known encoding. Its
// time and memory are bounded whatever the data; unsearched is the number of
// places where it had to stop.
func (m *Matcher) Find(data []byte) (found []Match, unsearched int) {
	more := 16 * min(len(data), maxInflated) // honest large data are compressed less
	h := &searcher{index: m.exact, disguises: m.disguises, disguisable: maxDisguised + disguisedTimes*len(data), inflatable: maxInflated + more, inflatableAtOnce: maxInflated/4 + more/2, decodable: maxDecoded + 32*len(data), plain: maxPlain}
	h.search(data, decoding{})
	return settle(h.matches), h.missed
}

// FindFolded is Find without regard to case, which resolvers may change.
func (m *Matcher) FindFolded(data []byte) (found []Match, unsearched int) {
	h := &searcher{index: m.folded(), inflatable: 0, decodable: 0}
	h.raw([]byte(strings.ToLower(string(data))), decoding{})
	exact, unsearched := m.Find(data)
	return settle(append(h.matches, exact...)), unsearched
}

// settle keeps, of overlapping matches of one decoy, the one that recognised most,
// in order.
func settle(all []Match) []Match {
	slices.SortStableFunc(all, func(a, b Match) int {
		if a.weight != b.weight {
			return b.weight - a.weight
		}
		return strings.Count(a.Encoding, "+") - strings.Count(b.Encoding, "+")
	})
	var kept []Match
	for _, m := range all {
		if !slices.ContainsFunc(kept, func(k Match) bool { return k.Decoy == m.Decoy && k.from < m.to && m.from < k.to }) {
			kept = append(kept, m)
		}
	}
	slices.SortStableFunc(kept, func(a, b Match) int { return a.from - b.from })
	return kept
}

// chain names the form in which a secret was found, and the steps that were undone
// before, the last first.
func chain(undone []string, form string) string {
	steps := slices.Clone(undone)
	slices.Reverse(steps)
	if form != Plain || len(steps) == 0 {
		steps = append([]string{form}, steps...)
	}
	return strings.Join(steps, "+")
}
