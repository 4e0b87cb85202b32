package decoy

import (
	"slices"
)

// A disguise is an encoding with a key, of which there are too many to undo each. It is
// found by what it keeps of a secret under any key:
//
//   - A substitution puts one symbol for each character: any single byte that is added or
//     XORed, rot13, swapped nibbles, a private alphabet for base64 or base85, a list of
//     numbers, words or emoji. Where a character repeats, its symbol does (shape.go).
//   - XOR with a repeating key of n bytes keeps the XOR of two bytes that are n apart.
//   - A key that is used once and sent along has one distance from all that it hides: the XOR
//     of the bytes at that distance is the secret. The same holds where each byte is XORed
//     with the one before it.
const (
	substitution = "substitution"
	repeatingXOR = "xor"
	besideXOR    = "xor with what is beside it"
	// maxBeside bounds the distance of such a key, and maxPiece the data that are searched for one, in bytes: each
	// distance takes a search.
	maxBeside, maxPiece = 256, 16 << 10
	// maxKey bounds the length of a repeating key, in bytes.
	maxKey = 16
	// maxDisguised and disguisedTimes bound the bytes that one search looks for disguises in:
	// their sum, the latter as a multiple of the data.
	maxDisguised, disguisedTimes = 256 << 10, 4
	// maxStride bounds the distance between characters of a secret, in bytes, with anything
	// between them: two in UTF-16.
	maxStride = 2
)

// disguises finds secrets in disguise.
type disguises struct {
	shapes *shapes
	// lags has, for each length of a key from 1 on, the XOR of the bytes at that distance.
	lags [maxKey]*index
	// plain has the secrets as they are.
	plain *index
}

// secretOf is a secret of a decoy.
type secretOf struct {
	id    ID
	plain string
}

func newDisguises(secrets []secretOf) *disguises {
	d := &disguises{shapes: newShapes(secrets)}
	var plain []text
	for _, s := range secrets {
		plain = append(plain, text{s.id, besideXOR, []byte(s.plain), len(s.plain), 2*block - 1})
	}
	d.plain = newIndex(plain, 0)
	for n := range maxKey {
		var texts []text
		for _, s := range secrets {
			if kept := lagged([]byte(s.plain), n+1); len(kept) >= 2*block-1 {
				texts = append(texts, text{s.id, repeatingXOR, kept, len(s.plain), 2*block - 1})
			}
		}
		d.lags[n] = newIndex(texts, n+1)
	}
	return d
}

// lagged returns the XOR of the bytes that are n apart.
func lagged(data []byte, n int) []byte {
	if len(data) <= n {
		return nil
	}
	out := make([]byte, len(data)-n)
	for i, c := range data[n:] {
		out[i] = c ^ data[i]
	}
	return out
}

// disguised searches for secrets in disguise.
func (h *searcher) disguised(data []byte, l decoding) {
	if h.disguises == nil || len(data) < shortestShape || len(data) > h.disguisable {
		return
	}
	h.disguisable -= len(data)
	for _, of := range h.disguises.lags {
		of.scan(data, func(t *text, from, to int) {
			h.seen(data, l, Match{Decoy: t.id, Encoding: repeatingXOR, from: from, to: to + of.lag, weight: to - from})
		})
	}
	h.beside(data, l)
	h.disguises.shapes.find(data, func(id ID, encoding string, from, to, symbols int) {
		h.seen(data, l, Match{Decoy: id, Encoding: encoding, from: from, to: to, weight: symbols})
	})
}

// beside searches for secrets that were XORed with other bytes of the same data.
func (h *searcher) beside(data []byte, l decoding) {
	if len(data) > maxPiece {
		return
	}
	for lag := 1; lag <= min(maxBeside, len(data)); lag++ {
		of := h.disguises.plain.at(lag)
		of.scan(data, func(t *text, from, to int) {
			if !slices.ContainsFunc(h.matches, func(k Match) bool { return k.Decoy == t.id }) { // zeros beside it are no key
				h.seen(data, l, Match{Decoy: t.id, Encoding: besideXOR, from: from, to: to + lag, weight: to - from})
			}
		})
	}
}

// seen enters a disguise, unless the secret was found in that encoding before.
func (h *searcher) seen(data []byte, l decoding, m Match) {
	m.Encoding = chain(l.undone, m.Encoding)
	if slices.ContainsFunc(h.matches, func(k Match) bool { return k.Decoy == m.Decoy && k.Encoding == m.Encoding }) || len(h.matches) >= maxMatches {
		return
	}
	m.Offset, m.Excerpt = int64(m.from), excerpt(data, 0, m.from, m.to)
	if l.depth > 0 {
		m.Offset, m.from, m.to = int64(l.from), l.from, l.to
	}
	h.matches = append(h.matches, m)
}
