package depend

import (
	"bytes"
	"math"
	"slices"
)

const (
	// leastNoise is the number of random bytes of one way that could carry a secret.
	leastNoise = 32
	// leastBits is the least entropy of each byte, in bits. Hexadecimal digits have four, text less, and a few dozen
	// random bytes about five.
	leastBits = 3.5
	// leastLong is the least information, in bytes, of a run that is more than a request id, a form boundary, or a
	// hash of 32 bytes.
	leastLong = 40
)

// Noise is a way by which random-looking bytes left that differ each time.
type Noise struct {
	Way
	// Size is the number of bytes, and Bits their entropy each. Long is set if one run of them could carry a secret
	// and a nonce.
	Size int
	Bits float64
	Long bool
	// Linked is set if such a run is part of an address: a client that opens it sends the run to another machine.
	Linked bool
}

// NoiseOf returns random-looking differences between two launches under equal conditions.
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
			run := p.Data[c.from:c.to]
			data[i] = append(data[i], run...)
			long := entropy(run)*float64(len(run)) >= 8*leastLong
			all[i].Long, all[i].Linked = all[i].Long || long, all[i].Linked || long && linked(p.Data[:c.from])
		}
	}
	for i := range all {
		all[i].Size, all[i].Bits = len(data[i]), entropy(data[i])
	}
	return slices.DeleteFunc(all, func(n Noise) bool { return n.Size < leastNoise || n.Bits < leastBits })
}

// linked reports whether the text ends within an address.
func linked(text []byte) bool {
	return bytes.Contains(text[bytes.LastIndexAny(text, " \t\r\n\"'<>()")+1:], []byte("://"))
}

// entropy returns the entropy of a byte by frequency, in bits.
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
