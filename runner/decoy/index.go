package decoy

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	// block is the number of bytes that are compared at once. A run of 15 bytes
	// of a text, wherever it begins, has a whole block of the data in it.
	block = 8
	// filterBits is the size of the largest filter: 2^21 bits are 256 KiB, which stay
	// in the second-level cache; few blocks pass it by chance.
	filterBits = 21
)

// index finds runs of known texts in data: seed and extend, as programs do that
// align genomes. Every block of every text is a seed. The data are looked at
// block by block; where one is a seed, the run is extended to both sides, and
// counts when it is long enough.
//
// An automaton (Aho and Corasick's) finds whole patterns. This also finds the
// parts of one, as a payload has them that was cut, wrapped into lines or sent
// in pieces, and is faster, for it looks at each block once.
type index struct {
	texts  []text
	filter []uint64
	// shift makes a hash as wide as the filter.
	shift int
	// lag: the texts are compared with the XOR of the bytes that are so far apart, and not
	// with the data as they are; 0 for these.
	lag int
	// heads is the first seed of a block, seeds all of them, linked.
	heads map[uint64]int32
	seeds []seed
}

type seed struct {
	text int32
	at   int32
	next int32 // index into seeds; -1: the last of its block
}

func newIndex(texts []text, lag int) *index {
	total := 0
	for _, t := range texts {
		total += len(t.bytes)
	}
	width := filterFor(total)
	x := &index{texts: texts, filter: make([]uint64, 1<<width/64), shift: 64 - width, lag: lag}
	x.heads, x.seeds = make(map[uint64]int32, total), make([]seed, 0, total)
	for n, t := range texts {
		for at := 0; at+block <= len(t.bytes); at++ {
			v := binary.LittleEndian.Uint64(t.bytes[at:])
			next, ok := x.heads[v]
			if !ok {
				next = -1
			}
			x.heads[v] = int32(len(x.seeds))
			x.seeds = append(x.seeds, seed{int32(n), int32(at), next})
			h := x.hash(v)
			x.filter[h/64] |= 1 << (h % 64)
		}
	}
	return x
}

// at is the index of the same texts for another lag.
func (x *index) at(lag int) index {
	of := *x
	of.lag = lag
	return of
}

// hash is the upper bits of a product (Knuth, volume 3, 6.4).
func (x *index) hash(v uint64) uint64 { return v * 0x9E3779B97F4A7C15 >> x.shift }

// filterFor is how wide a filter of so many seeds is, in bits of its size.
func filterFor(seeds int) int { return min(filterBits, max(12, bits.Len(uint(seeds))+6)) }

// scan reports every run that is long enough, in the order of the data; a run
// once, unless the text repeats in itself.
func (x *index) scan(data []byte, found func(t *text, from, to int)) {
	var covered map[int32]int // by text, the end of its last run
	for p := 0; p+x.lag+block <= len(data); p += block {
		v := binary.LittleEndian.Uint64(data[p:])
		if x.lag > 0 {
			v ^= binary.LittleEndian.Uint64(data[p+x.lag:])
		}
		h := x.hash(v)
		if x.filter[h/64]>>(h%64)&1 == 0 {
			continue
		}
		next, ok := x.heads[v]
		if !ok {
			continue
		}
		for ; next >= 0; next = x.seeds[next].next {
			s := x.seeds[next]
			if p < covered[s.text] {
				continue
			}
			t := &x.texts[s.text]
			from, to := x.extend(data, p, t.bytes, int(s.at))
			if to-from >= min(t.enough, len(t.bytes)) {
				if covered == nil {
					covered = map[int32]int{}
				}
				covered[s.text] = to
				found(t, from, to)
			}
		}
	}
}

// extend is the longest run around a block that both have.
func (x *index) extend(data []byte, p int, text []byte, at int) (from, to int) {
	from, to = p, p+block
	for i := at; i > 0 && from > 0 && text[i-1] == x.byteAt(data, from-1); i-- {
		from--
	}
	for i := at + block; i < len(text) && to+x.lag < len(data) && text[i] == x.byteAt(data, to); i++ {
		to++
	}
	return from, to
}

func (x *index) byteAt(data []byte, i int) byte {
	if x.lag == 0 {
		return data[i]
	}
	return data[i] ^ data[i+x.lag]
}

// fold makes an index that compares lower-cased data. Forms that differ in case
// alone are one there.
func fold(texts []text) *index {
	type form struct {
		id    ID
		bytes string
	}
	seen := map[form]bool{}
	var lowered []text
	for _, t := range texts {
		t.bytes = bytes.ToLower(t.bytes)
		if f := (form{t.id, string(t.bytes)}); !seen[f] {
			seen[f] = true
			lowered = append(lowered, t)
		}
	}
	return newIndex(lowered, 0)
}
