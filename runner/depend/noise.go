package depend

import (
	"math"
	"slices"
)

const (
	// leastNoise is how many bytes of one way make noise that could hold a secret.
	leastNoise = 32
	// leastBits is how many bits of entropy each byte of it has at least. Hexadecimal digits
	// have four, the text of people less, and a few dozen random bytes some five.
	leastBits = 3.5
)

// Noise is a way by which bytes left that differ each time, and look random.
type Noise struct {
	Way
	// Size is how many, Bits what each has of entropy, as often as each comes.
	Size int
	Bits float64
}

// NoiseOf returns what differs between two launches that were the same in everything, and
// looks random.
func NoiseOf(one, again *Record) (all []Noise) {
	one.index()
	again.index()
	var data [][]byte
	for _, p := range one.pieces {
		for _, c := range p.cores(func(f uint64) bool { return !again.has(f) }) {
			i := slices.IndexFunc(all, func(n Noise) bool { return n.Channel == p.Channel && n.Destination == p.Destination })
			if i < 0 {
				i = len(all)
				all, data = append(all, Noise{Way: p.Way}), append(data, nil)
			}
			data[i] = append(data[i], p.Data[c.from:c.to]...)
		}
	}
	for i := range all {
		all[i].Size, all[i].Bits = len(data[i]), entropy(data[i])
	}
	return slices.DeleteFunc(all, func(n Noise) bool { return n.Size < leastNoise || n.Bits < leastBits })
}

// entropy of the bytes, by how often each comes, in bits.
func entropy(data []byte) (bits float64) {
	var counts [256]int
	for _, c := range data {
		counts[c]++
	}
	for _, n := range counts {
		if n > 0 {
			share := float64(n) / float64(len(data))
			bits -= share * math.Log2(share)
		}
	}
	return bits
}
