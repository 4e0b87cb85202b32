package decoy

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	// block is the number of bytes that are compared at once. A run of 15 bytes,
	// wherever it begins, contains a whole block of the data.
	block = 8
	// filterBits bounds a filter's size: 2^21 bits are 256 KiB, which stay in the
	// second-level cache; few blocks pass it by chance.
	filterBits = 21
)

// index finds runs of known texts in data by seed and extend, as genome aligners
// do. Every block of every text is a seed. The data are read block by block; a
// block that is a seed is extended to both sides, and the run counts when it is
// long enough.
//
// An Aho-Corasick automaton finds whole patterns. This also finds parts of one, in
// payloads that were cut, wrapped into lines or sent in pieces, and it is faster,
// because it looks at each block once.
type index struct {
	texts  []text
	filter []uint64
	// shift reduces a hash to the filter's width.
	shift int
	// lag: the texts are compared with the XOR of the bytes at this distance; 0: with
	// the data as they are.
	lag int
	// heads has the first seed of each block, seeds all of them, linked.
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

// at returns an index of the same texts for another lag.
func (x *index) at(lag int) index {
	of := *x
	of.lag = lag
	return of
}

// hash returns the upper bits of a product (Knuth, volume 3, 6.4).
func (x *index) hash(v uint64) uint64 { return v * 0x9E3779B97F4A7C15 >> x.shift }

// filterFor returns the width of a filter for a number of seeds: the bits of its index.
func filterFor(seeds int) int { return min(filterBits, max(12, bits.Len(uint(seeds))+6)) }

// scan reports every run that is long enough, in the order of the data, and once
// unless the text repeats itself.
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

// extend returns the longest common run around a block.
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

// fold makes an index for lower-cased data. Forms that differ only in case become
// one.
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
