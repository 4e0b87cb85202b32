// Package pseudonym replaces the names that the audit itself brings along by ones drawn for
// each audit. The audit plants files and makes arguments with fixed names, by which a server whose
// author has read this code could recognize it. The engine keeps those names; only the server sees
// others. Each has as many bytes as the name that it stands for, so that sizes and offsets
// stay true.
package pseudonym

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// Pair is a name of the engine and the one that the server sees in its place.
type Pair struct {
	Name string `json:"name"`
	Seen string `json:"seen"`
	// Inward: the name is replaced only in texts of the server, because the engine's have it in other meanings.
	Inward bool `json:"inward,omitempty"`
}

// Names are the pairs of one audit. Nil replaces nothing. It is safe for concurrent use.
type Names struct {
	pairs   []Pair
	out, in *strings.Replacer
	// named and seen are the shortest names: a text without any needs no replacement.
	named, seen [][]byte
}

// New returns the names for some pairs, which also stand for their forms in upper case and with an
// upper-case first letter. It returns nil for no pairs. The error is about a pair whose names differ in length.
func New(pairs []Pair) (*Names, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	n := &Names{pairs: pairs}
	var forms []Pair
	for _, p := range pairs {
		if len(p.Name) != len(p.Seen) || p.Name == "" {
			return nil, fmt.Errorf("pseudonym of %q: %q has another length", p.Name, p.Seen)
		}
		forms = append(forms, p, Pair{strings.ToUpper(p.Name), strings.ToUpper(p.Seen), p.Inward}, Pair{title(p.Name), title(p.Seen), p.Inward})
	}
	// A Replacer takes the first that fits.
	slices.SortStableFunc(forms, func(a, b Pair) int { return cmp.Compare(len(b.Name), len(a.Name)) })
	n.in, n.seen = replacer(forms, func(p Pair) (old, new string) { return p.Seen, p.Name })
	forms = slices.DeleteFunc(forms, func(p Pair) bool { return p.Inward })
	n.out, n.named = replacer(forms, func(p Pair) (old, new string) { return p.Name, p.Seen })
	return n, nil
}

// title returns a name with its first letter in upper case.
func title(name string) string {
	first := []rune(name)[0]
	return string(unicode.ToUpper(first)) + name[len(string(first)):]
}

// replacer returns the replacer for pairs, the longest first, and the old texts that contain no other one.
func replacer(pairs []Pair, of func(Pair) (old, new string)) (r *strings.Replacer, stems [][]byte) {
	var all []string
	for _, p := range pairs {
		old, new := of(p)
		all = append(all, old, new)
	}
	for _, p := range slices.Backward(pairs) {
		if old, _ := of(p); !containsAny([]byte(old), stems) {
			stems = append(stems, []byte(old))
		}
	}
	return strings.NewReplacer(all...), stems
}

func containsAny(text []byte, any [][]byte) bool {
	return slices.ContainsFunc(any, func(one []byte) bool { return bytes.Contains(text, one) })
}

// MarshalJSON encodes the pairs.
func (n *Names) MarshalJSON() ([]byte, error) { return json.Marshal(n.pairs) }

// UnmarshalJSON decodes pairs.
func (n *Names) UnmarshalJSON(text []byte) error {
	var pairs []Pair
	if err := json.Unmarshal(text, &pairs); err != nil {
		return err
	}
	decoded, err := New(pairs)
	if decoded != nil {
		*n = *decoded
	}
	return err
}

// Out returns a text of the engine as the server is to see it.
func (n *Names) Out(text string) string {
	if n == nil {
		return text
	}
	return n.out.Replace(text)
}

// In returns a text of the server with the engine's names.
func (n *Names) In(text string) string {
	if n == nil {
		return text
	}
	return n.in.Replace(text)
}

// OutBytes is Out for bytes. It returns text itself if there is nothing to replace.
func (n *Names) OutBytes(text []byte) []byte {
	if n == nil || !containsAny(text, n.named) {
		return text
	}
	return []byte(n.out.Replace(string(text)))
}

// InBytes is In for bytes. It returns text itself if there is nothing to replace.
func (n *Names) InBytes(text []byte) []byte {
	if n == nil || !containsAny(text, n.seen) {
		return text
	}
	return []byte(n.in.Replace(string(text)))
}

// Reader returns a reader of a stream of the server's. It holds back the beginning of a name until the next read.
func (n *Names) Reader(from io.ReadCloser) io.ReadCloser {
	if n == nil || from == nil {
		return from
	}
	return &reader{ReadCloser: from, names: n}
}

type reader struct {
	io.ReadCloser
	names *Names
	// ready was read and replaced; held begins a name, perhaps.
	ready, held []byte
	err         error
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.ready) == 0 && r.err == nil && len(p) > 0 {
		piece := make([]byte, len(p))
		var n int
		n, r.err = r.ReadCloser.Read(piece)
		text := append(r.held, piece[:n]...)
		held := 0
		if r.err == nil {
			held = r.names.begun(text)
		}
		r.ready = r.names.InBytes(text[:len(text)-held])
		r.held = slices.Clone(text[len(text)-held:])
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	if n == 0 {
		return 0, r.err
	}
	return n, nil
}

// begun returns the length of the longest end of a text that begins a name but is none yet.
func (n *Names) begun(text []byte) (longest int) {
	for _, p := range n.pairs {
		for _, seen := range []string{p.Seen, strings.ToUpper(p.Seen), title(p.Seen)} {
			for length := min(len(seen)-1, len(text)); length > longest; length-- {
				if bytes.HasSuffix(text, []byte(seen[:length])) {
					longest = length
				}
			}
		}
	}
	return longest
}
