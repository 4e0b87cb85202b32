package decoy

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
)

// The bounds of one search. Without compression, decoded data are at most a few
// times as long as the encoded ones; with it, they can be any length.
const (
	// maxDepth bounds how many nested encodings are undone, and maxEscapes how many escapes
	// besides: a text that is quoted again and again has many. If there are more, the search
	// is incomplete.
	maxDepth   = 8
	maxEscapes = 64
	// maxInflated bounds the bytes that short compressed data may inflate to:
	// altogether, and a quarter of it at one place. maxDecoded bounds the other
	// decoders. Both grow with the data that are searched.
	maxInflated = 4 << 20
	maxDecoded  = 1 << 20
	// maxPlain bounds the plain bytes that are read after those.
	maxPlain = 32 << 20
	// maxPlaces bounds the places of a short text at which data are taken for
	// compressed; in a long one there may be one more per placeBytes.
	maxPlaces  = 256
	placeBytes = 64
	// maxMatches bounds the matches that are kept. One decides.
	maxMatches = 256
	// near is the largest distance, in bytes, between runs of one decoy that are
	// one match: the lines of a key.
	near = 128
)

// searcher is one search, with what is left of its limits.
type searcher struct {
	index     *index
	disguises *disguises
	// inflatable and decodable are the bytes that decoders may still make,
	// inflatableAtOnce those from compressed data at one place. disguisable
	// are those that may still be searched for disguises.
	// plain bounds the bytes that may be read beyond these bounds if they hold no secret.
	inflatable, inflatableAtOnce, decodable, disguisable, plain int
	// searched has what decoders made: the same data are searched once.
	searched map[product]struct{}
	// missed counts the places where the bounds ended the search.
	missed  int
	matches []Match
}

// decoding names what was undone to get the data that are searched.
type decoding struct {
	// undone are the encodings, the outermost first.
	undone []string
	// depth also counts what is no encoding, such as chunks; escapes counts undone escapes of text.
	depth, escapes int
	// from and to delimit it in the outermost data; meaningless at depth 0.
	from, to int
}

// inner returns the layer that was decoded from this one's data at from:to;
// encoding may be empty.
func (l decoding) inner(encoding string, from, to int) decoding {
	next := decoding{undone: l.undone, depth: l.depth + 1, escapes: l.escapes, from: l.from, to: l.to}
	if encoding != "" {
		next.undone = append(l.undone[:len(l.undone):len(l.undone)], encoding)
	}
	if l.depth == 0 {
		next.from, next.to = from, to
	}
	return next
}

// unescaped returns the layer of a text without its escapes. It is shorter, so only the first counts as depth.
func (l decoding) unescaped(encoding string, from, to int) decoding {
	next := l.inner(encoding, from, to)
	next.depth, next.escapes = max(l.depth, 1), l.escapes+1
	return next
}

// search searches data as they are and behind all encodings.
func (h *searcher) search(data []byte, l decoding) {
	h.raw(data, l)
	h.disguised(data, l)
	if l.depth >= maxDepth || l.escapes >= maxEscapes {
		if from, to := letters(data, 0); from < to {
			h.missed++
		}
		return
	}
	// Decoders that know exact places come first.
	h.compressed(data, l)
	h.runs(data, l)
	h.messages(data, l)
	h.escapes(data, l)
}

// raw searches data as they are.
func (h *searcher) raw(data []byte, l decoding) {
	first, end := len(h.matches), 0
	h.index.scan(data, func(t *text, from, to int) {
		weight := (to - from) * t.secret * 4 / len(t.bytes)
		if t.encoding == Plain {
			weight += weight / 4
		}
		encoding := chain(l.undone, t.encoding)
		place := Match{Decoy: t.id, Encoding: encoding, Offset: int64(from), from: from, to: to, weight: weight}
		if l.depth > 0 {
			place.Offset, place.from, place.to = int64(l.from), l.from, l.to
		}
		for i := len(h.matches) - 1; i >= first; i-- {
			if m := &h.matches[i]; m.Decoy == t.id && m.Encoding == encoding && from-m.end <= near {
				m.weight, m.end, m.to = m.weight+weight, to, max(m.to, place.to)
				end = to
				return
			}
		}
		if len(h.matches) >= maxMatches {
			// A token that is sent with every request has been found by then, twice in each
			// request with escapes.
			if !slices.ContainsFunc(h.matches, func(m Match) bool { return m.Decoy == t.id }) {
				h.missed++
			}
			return
		}
		place.end = to
		place.Excerpt = excerpt(data, end, from, to)
		h.matches = append(h.matches, place)
		end = to
	})
}

// maxContext bounds the text that is shown before a secret, in bytes.
const maxContext = 56

// excerpt returns the text before a secret, and the secret shortened. The text
// begins after the secret before it, unless they overlap.
func excerpt(data []byte, before, from, to int) string {
	start := max(0, from-maxContext)
	if before <= from {
		start = max(start, before)
	}
	shown := string(data[start:from]) + string(data[from:min(from+4, to)]) + "…" + string(data[max(to-2, from):to])
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			return '.'
		}
		return r
	}, strings.ToValidUTF8(shown, "."))
}

// decoded searches what a decoder made, unless it is too short or was searched before.
func (h *searcher) decoded(data []byte, l decoding) {
	if len(data) < minSecret {
		return
	}
	made := product{maphash.Bytes(hashSeed, data), l.from, l.to}
	if _, ok := h.searched[made]; ok {
		return
	}
	if h.searched == nil {
		h.searched = map[product]struct{}{}
	}
	h.searched[made] = struct{}{}
	h.search(data, l)
}

// product identifies what a decoder made of a place, by its hash.
type product struct {
	sum      uint64
	from, to int
}

// hashSeed makes the hashes unpredictable.
var hashSeed = maphash.MakeSeed()

// afford takes a number of bytes from those that decoders may make, if enough are left.
func (h *searcher) afford(size int) bool {
	if size > h.decodable {
		h.missed++
		return false
	}
	h.decodable -= size
	return true
}

// escapes undoes the escapes of JSON strings (RFC 8259, 7), such as "\/" and
// "\u002b", which interrupt a run of base64, and the encoding of URLs and forms
// (RFC 3986, 2.1), wherever text is.
func (h *searcher) escapes(data []byte, l decoding) {
	slash, percents := -1, -1
	for at := 0; at < len(data); {
		if slash < at {
			slash = indexFrom(data, at, '\\')
		}
		if percents < at {
			percents = indexFrom(data, at, '%')
		}
		first := min(slash, percents)
		if first == len(data) {
			return
		}
		from, to := printable(data, at, first)
		at = to
		part := data[from:to]
		if len(part) < minRun {
			continue
		}
		if slash < to && h.afford(len(part)) {
			h.decoded(unescape(part), l.unescaped("", from, to))
		}
		if anyEscaped(part) && h.afford(len(part)) {
			h.decoded(unpercent(part), l.unescaped(percent, from, to))
		}
	}
}

// indexFrom returns the next place of a byte, or the end of the data.
func indexFrom(data []byte, at int, c byte) int {
	if i := bytes.IndexByte(data[at:], c); i >= 0 {
		return at + i
	}
	return len(data)
}

// runs undoes base64 and hex in runs of enough of their characters.
func (h *searcher) runs(data []byte, l decoding) {
	for at := 0; at < len(data); {
		from, to := letters(data, at)
		if from == to {
			return
		}
		at = to
		run := data[from:to]
		if isHex(run) && h.afford(len(run)/2) {
			h.decoded(unhex(run), l.inner(hexDigits, from, to))
		}
		encoding := Base64
		if bytes.ContainsAny(run, "-_") {
			encoding = base64URL
		}
		for _, start := range groups(run) {
			if !h.afford(len(run)) {
				return
			}
			h.decoded(unbase64(run[start:]), l.inner(encoding, from, to))
		}
	}
}
