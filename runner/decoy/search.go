package decoy

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
)

// The bounds of one search. What encodings without compression hide is at most
// some times as long as what hides it; compressed data can be any length.
const (
	// maxDepth is how many encodings are undone, one inside another, and maxEscapes how many
	// escapes besides: a text that is quoted again and again has many. Where there is one
	// more, the search has ended too early.
	maxDepth   = 8
	maxEscapes = 64
	// maxInflated bounds what may come out of compressed data, in bytes, where they
	// are short: altogether, and, a quarter of it, at one place. maxDecoded is
	// that for what is not compressed. Both grow with the data that are searched.
	maxInflated = 4 << 20
	maxDecoded  = 1 << 20
	// maxPlaces is at how many places of a short text data are taken for
	// compressed; in a long one, at one in so many bytes.
	maxPlaces  = 256
	placeBytes = 64
	// maxMatches is how many matches are kept. One decides.
	maxMatches = 256
	// near is how far apart, in bytes, runs of one decoy are one match: the
	// lines of a key, with what stands between them.
	near = 128
)

// searcher is one search, with how much of its limits it has used.
type searcher struct {
	index     *index
	disguises *disguises
	// inflatable and decodable are the bytes that may still be made,
	// inflatableAtOnce those that may be of what is compressed at one place.
	// disguisable are those that may still be searched for disguises.
	inflatable, inflatableAtOnce, decodable, disguisable int
	// searched has what decoders made: what two ways lead to is searched once.
	searched map[product]struct{}
	// missed counts places where the bounds ended the search.
	missed  int
	matches []Match
}

// decoding names what was undone to come to the data that are searched.
type decoding struct {
	// undone are the encodings, the outermost first.
	undone []string
	// depth counts also what is no encoding, such as chunks; escapes counts those of text.
	depth, escapes int
	// from and to are where in the outermost data it all stands; meaningless at
	// depth 0.
	from, to int
}

// inner is the layer of what stood at from:to of this one's data; encoding may
// be empty.
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

// unescaped is the layer of a text without its escapes, which is shorter: only the first is as deep as any other.
func (l decoding) unescaped(encoding string, from, to int) decoding {
	next := l.inner(encoding, from, to)
	next.depth, next.escapes = max(l.depth, 1), l.escapes+1
	return next
}

// search looks at data as they are and behind all encodings.
func (h *searcher) search(data []byte, l decoding) {
	h.raw(data, l)
	h.disguised(data, l)
	if l.depth >= maxDepth || l.escapes >= maxEscapes {
		if from, to := letters(data, 0); from < to {
			h.missed++
		}
		return
	}
	// What says exactly where it found something comes first.
	h.compressed(data, l)
	h.runs(data, l)
	h.messages(data, l)
	h.escapes(data, l)
}

// raw looks at data as they are.
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
			// A token that goes with every request is found by then, and where requests
			// have escapes, once more in each without them.
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

// maxContext is how much of the text before a secret is shown, in bytes.
const maxContext = 56

// excerpt is the text before a secret and the secret shortened. The text begins
// behind the secret before it, unless they lie over one another.
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

// decoded searches what a decoder made, if there is anything.
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

// product identifies what decoders made of a place: its hash.
type product struct {
	sum      uint64
	from, to int
}

// hashSeed makes the hashes unforeseeable.
var hashSeed = maphash.MakeSeed()

// afford takes so many bytes of what decoders may make.
func (h *searcher) afford(size int) bool {
	if size > h.decodable {
		h.missed++
		return false
	}
	h.decodable -= size
	return true
}

// escapes undoes the escapes of JSON strings (RFC 8259, 7), of which "\/" and
// "\u002b" break up what follows them, and the encoding of URLs and forms (RFC
// 3986, 2.1), wherever text is.
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

// indexFrom returns where a byte next stands, or the end of the data.
func indexFrom(data []byte, at int, c byte) int {
	if i := bytes.IndexByte(data[at:], c); i >= 0 {
		return at + i
	}
	return len(data)
}

// runs undoes base64 and hex, where enough characters of theirs stand together.
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
