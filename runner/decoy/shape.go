package decoy

import (
	"hash/maphash"
	"slices"
	"unicode/utf8"
)

// The shape of a text says of each symbol whether it came before, and where: "noon" and
// "1221" have the same shape. A substitution keeps it. That of 32 random letters and
// digits has some 58 bits, so no other text has it by chance.
const (
	// reach is the distance at which a symbol is compared for the hash of a shape, span the number
	// of symbols in that hash.
	reach, span   = 12, 20
	shortestShape = reach + span
	longestShape  = 96
	// leastRepeats is the least number of symbols of a shape that came before, leastNear
	// that of symbols in its hash.
	leastRepeats, leastNear = 6, 2
	base                    = 0x9E3779B97F4A7C15 // of the rolling hash: odd
)

// power is base to the power of span.
var power = func() uint64 {
	p := uint64(1)
	for range span {
		p *= base
	}
	return p
}()

// shape describes a part of a secret, in one of its forms.
type shape struct {
	id       ID
	encoding string
	// first has, for each symbol, the place of the first one like it.
	first []uint8
}

// shapes finds shapes by the hash of their first symbols.
type shapes struct {
	all    []shape
	byHash map[uint64][]int32
	filter []uint64
	shift  int
}

func newShapes(secrets []secretOf) *shapes {
	s := &shapes{byHash: map[uint64][]int32{}}
	for _, of := range secrets {
		for _, form := range forms(of.id, of.plain) {
			encoding := form.encoding + "+" + substitution
			if form.encoding == Plain {
				encoding = substitution
			}
			s.add(of.id, encoding, form.bytes)
		}
	}
	n := filterFor(len(s.byHash))
	s.filter, s.shift = make([]uint64, 1<<n/64), 64-n
	for h := range s.byHash {
		bit := h * base >> s.shift
		s.filter[bit/64] |= 1 << (bit % 64)
	}
	return s
}

// add enters the shapes of the parts of a text.
func (s *shapes) add(id ID, encoding string, text []byte) {
	for from := 0; from+shortestShape <= len(text); from++ {
		first, hash := shapeOf(text[from:])
		if first != nil {
			s.byHash[hash] = append(s.byHash[hash], int32(len(s.all)))
			s.all = append(s.all, shape{id, encoding, first})
			from += shortestShape / 2
		}
	}
}

// shapeOf returns the shape of the beginning of a text, of as many symbols as it takes; nil if
// it has none.
func shapeOf(text []byte) (first []uint8, hash uint64) {
	repeats := 0
	for _, n := range nears(text[:min(shortestShape, len(text))])[min(reach, len(text)):] {
		hash = hash*base + uint64(n) + 1
		repeats += min(1, int(n))
	}
	again := 0
	for i, c := range text[:min(longestShape, len(text))] {
		at := slices.Index(text[:i+1], c)
		first = append(first, uint8(at)) //nolint:gosec // a shape is short
		again += min(1, i-at)
		if i+1 >= shortestShape && again >= leastRepeats && repeats >= leastNear {
			return first, hash
		}
	}
	return nil, 0
}

// recognisable reports whether a secret has a shape in every form that is long enough.
func recognisable(secret string) bool {
	known := newShapes(nil)
	for _, form := range forms(ID{}, secret) {
		before := len(known.all)
		if known.add(ID{}, "", form.bytes); len(form.bytes) >= shortestShape && len(known.all) == before {
			return false
		}
	}
	return true
}

// nears returns for each symbol how far back the last one like it is; 0 if that is farther
// than reach.
func nears[S comparable](symbols []S) []uint8 {
	out := make([]uint8, len(symbols))
	for i, c := range symbols {
		for n := 1; n <= reach && n <= i; n++ {
			if symbols[i-n] == c {
				out[i] = uint8(n)
				break
			}
		}
	}
	return out
}

// scan reports the shapes in symbols, and where they begin.
func scan[S comparable](s *shapes, symbols []S, found func(of *shape, from int)) {
	if len(symbols) < shortestShape {
		return
	}
	near, hash := nears(symbols), uint64(0)
	for i, n := range near {
		hash = hash*base + uint64(n) + 1
		if i >= span {
			hash -= (uint64(near[i-span]) + 1) * power
		}
		bit := hash * base >> s.shift
		if i+1 < shortestShape || s.filter[bit/64]>>(bit%64)&1 == 0 {
			continue
		}
		from := i + 1 - shortestShape
		for _, at := range s.byHash[hash] {
			if of := &s.all[at]; has(symbols[from:], of.first) {
				found(of, from)
			}
		}
	}
}

// scanBytes is scan for every stride-th byte of data from phase on, much faster.
func (s *shapes) scanBytes(data []byte, stride, phase int, found func(of *shape, from int)) {
	var last [256]int
	var near [32]uint8 // of at least the last span symbols
	hash := uint64(0)
	for i, at := 0, phase; at < len(data); i, at = i+1, at+stride {
		n := uint8(0)
		if back := i + 1 - last[data[at]]; last[data[at]] > 0 && back <= reach {
			n = uint8(back)
		}
		last[data[at]] = i + 1
		gone := near[(i-span)&31]
		near[i&31] = n
		hash = hash*base + uint64(n) + 1
		if i >= span {
			hash -= (uint64(gone) + 1) * power
		}
		bit := hash * base >> s.shift
		if s.filter[bit/64]>>(bit%64)&1 == 0 || i+1 < shortestShape {
			continue
		}
		from := i + 1 - shortestShape
		for _, known := range s.byHash[hash] {
			if of := &s.all[known]; has(every(data[phase+from*stride:min(len(data), at+longestShape*stride)], stride, 0), of.first) {
				found(of, from)
			}
		}
	}
}

// has reports whether symbols begin with a shape.
func has[S comparable](symbols []S, first []uint8) bool {
	if len(symbols) < len(first) {
		return false
	}
	for i, at := range first {
		if int(at) < i && symbols[i] != symbols[at] || int(at) == i && slices.Contains(symbols[:i], symbols[i]) {
			return false
		}
	}
	return true
}

// find reports the secrets whose shape is in data: in bytes, in every second byte,
// in characters of more than a byte, in words and in groups of digits.
func (s *shapes) find(data []byte, found func(id ID, encoding string, from, to, symbols int)) {
	report := func(at func(i int) (from, to int)) func(*shape, int) {
		return func(of *shape, i int) {
			from, _ := at(i)
			_, to := at(i + len(of.first) - 1)
			found(of.id, of.encoding, from, to, len(of.first))
		}
	}
	for stride := 1; stride <= maxStride; stride++ {
		for phase := range stride {
			s.scanBytes(data, stride, phase, report(func(i int) (int, int) { at := phase + i*stride; return at, at + 1 }))
		}
	}
	symbols, places := characters(data)
	scan(s, symbols, report(func(i int) (int, int) { return places[i].from, places[i].to }))
	symbols, places = words(data)
	for stride := 1; stride <= 2; stride++ {
		for phase := range stride {
			scan(s, every(symbols, stride, phase), report(func(i int) (int, int) { at := places[phase+i*stride]; return at.from, at.to }))
		}
	}
	for _, width := range []int{2, 3, 8} {
		for _, run := range digitRuns(data, width*shortestShape) {
			for phase := range width {
				from := run.from + phase
				scan(s, groupsOf(data[from:run.to], width), report(func(i int) (int, int) { return from + i*width, from + (i+1)*width }))
			}
		}
	}
}

// every returns every stride-th symbol from phase on.
func every[S comparable](data []S, stride, phase int) []S {
	if stride == 1 {
		return data
	}
	out := make([]S, 0, len(data)/stride+1)
	for at := phase; at < len(data); at += stride {
		out = append(out, data[at])
	}
	return out
}

type stretch struct{ from, to int }

// characters returns the characters of UTF-8; none if all have one byte, or it is not UTF-8.
func characters(data []byte) (symbols []uint64, places []stretch) {
	from, to := 0, len(data) // without characters that are cut off
	for from < min(len(data), utf8.UTFMax) && !utf8.RuneStart(data[from]) {
		from++
	}
	for to > max(from, len(data)-utf8.UTFMax) && data[to-1] >= utf8.RuneSelf {
		to--
	}
	if !utf8.Valid(data[from:to]) || !slices.ContainsFunc(data, func(c byte) bool { return c >= utf8.RuneSelf }) {
		return nil, nil
	}
	for at := from; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		symbols, places = append(symbols, uint64(r)), append(places, stretch{at, at + n}) //nolint:gosec // a rune is not negative
		at += n
	}
	return symbols, places
}

// words returns the runs of letters and digits, as hashes.
func words(data []byte) (symbols []uint64, places []stretch) {
	from := -1
	for i := 0; i <= len(data); i++ {
		inside := i < len(data) && sextets[data[i]] >= 0 && data[i] != '-' && data[i] != '/' && data[i] != '+'
		switch {
		case inside && from < 0:
			from = i
		case !inside && from >= 0:
			symbols, places = append(symbols, maphash.Bytes(hashSeed, data[from:i])), append(places, stretch{from, i})
			from = -1
		}
	}
	return symbols, places
}

// digitRuns returns the runs of hex digits that are long enough.
func digitRuns(data []byte, least int) (runs []stretch) {
	for at := least - 1; at < len(data); at += least {
		from := at
		for from >= 0 && nibble(data[from]) >= 0 {
			from--
		}
		for at < len(data) && at > from && nibble(data[at]) >= 0 {
			at++
		}
		if at-from > least {
			runs = append(runs, stretch{from + 1, at})
		}
	}
	return runs
}

// groupsOf returns the groups of width bytes, at most eight.
func groupsOf(data []byte, width int) []uint64 {
	var symbols []uint64
	for ; len(data) >= width; data = data[width:] {
		var symbol uint64
		for _, c := range data[:width] {
			symbol = symbol<<8 | uint64(c)
		}
		symbols = append(symbols, symbol)
	}
	return symbols
}
