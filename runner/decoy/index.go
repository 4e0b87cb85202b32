package decoy

import (
	"bytes"
	"encoding/binary"
)

const (
	// block is the number of bytes that are compared at once. A run of 15 bytes
	// of a text, wherever it begins, has a whole block of the data in it.
	block = 8
	// filterBits is the size of the filter: 2^21 bits are 256 KiB, which stay in
	// the second-level cache; about one block in twenty passes it by chance.
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
	// heads is the first seed of a block, seeds all of them, linked.
	heads map[uint64]int32
	seeds []seed
}

type seed struct {
	text int32
	at   int32
	next int32 // index into seeds; -1: the last of its block
}

func newIndex(texts []text) *index {
	x := &index{texts: texts, filter: make([]uint64, 1<<filterBits/64)}
	total := 0
	for _, t := range texts {
		total += len(t.bytes)
	}
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
			h := hash(v)
			x.filter[h/64] |= 1 << (h % 64)
		}
	}
	return x
}

// hash is the upper bits of a product (Knuth, volume 3, 6.4).
func hash(v uint64) uint64 { return v * 0x9E3779B97F4A7C15 >> (64 - filterBits) }

// scan reports every run that is long enough, in the order of the data; a run
// once, unless the text repeats in itself.
func (x *index) scan(data []byte, found func(t *text, from, to int)) {
	covered := map[int32]int{} // by text, the end of its last run
	for p := 0; p+block <= len(data); p += block {
		v := binary.LittleEndian.Uint64(data[p:])
		h := hash(v)
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
			from, to := extend(data, p, t.bytes, int(s.at))
			if to-from >= min(t.enough, len(t.bytes)) {
				covered[s.text] = to
				found(t, from, to)
			}
		}
	}
}

// extend is the longest run around a block that both have.
func extend(data []byte, p int, text []byte, at int) (from, to int) {
	from, to = p, p+block
	for i := at; i > 0 && from > 0 && text[i-1] == data[from-1]; i-- {
		from--
	}
	for i := at + block; i < len(text) && to < len(data) && text[i] == data[to]; i++ {
		to++
	}
	return from, to
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
	return newIndex(lowered)
}
