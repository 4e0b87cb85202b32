// Package depend finds out whether what leaves a server depends on a secret, whatever was done
// to the secret: what is the same in all launches with the same decoys, and in none with
// others, does. It compares records of launches, and is pure.
package depend

import (
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
)

const (
	// window is how many bytes are compared at once. A byte that differs is in so many
	// windows.
	window = 8
	// maxRecord bounds what is kept of one launch, in bytes.
	maxRecord = 512 << 10
	// maxNumbers bounds the numbers of one launch.
	maxNumbers = 4096
)

// Piece is something that left the server in one launch.
type Piece struct {
	Way
	Data []byte
	// Time is when it left.
	Time time.Time
	// Named is the name that the destination's address was handed out for; "" where it was
	// not.
	Named string
}

// Way is the way that something took, in one part of the session.
type Way struct {
	ledger.Where
	Channel leak.Channel
	// Destination as in leak.Leak.
	Destination string
}

// Record holds what left the server in one launch.
type Record struct {
	pieces   []Piece
	size     int
	features []uint64 // sorted, once known
	counted  map[number]int
	numbers  []number
}

// number is one of several numbers that could say something: a size, a port.
type number struct {
	way     Way
	named   string
	time    time.Time
	feature uint64
	what    string
	value   int
}

var seed = maphash.MakeSeed()

// Add enters a piece, and its size. Secrets are in texts; who sends one as sizes sends many
// pieces the same way.
func (r *Record) Add(p Piece) {
	if r.size+len(p.Data) > maxRecord {
		p.Data = p.Data[:maxRecord-r.size]
	}
	if len(p.Data) == 0 {
		return
	}
	r.size += len(p.Data)
	r.pieces = append(r.pieces, p)
	r.features = nil
}

// Number enters a number that the way of a piece tells, such as a port or a size; what is
// a word for it. The same number may come several times.
func (r *Record) Number(p Piece, what string, value int) {
	if len(r.numbers) >= maxNumbers {
		return
	}
	is := number{way: Way{Channel: p.Channel, Destination: p.Destination}, what: what, value: value}
	if r.counted == nil {
		r.counted = map[number]int{}
	}
	r.counted[is]++
	feature := maphash.Comparable(seed, [2]any{is, r.counted[is]})
	r.numbers = append(r.numbers, number{p.Way, p.Named, p.Time, feature, what, value})
	r.features = nil
}

// windows are the hashes of the windows of a piece; those at its ends reach beyond it.
func (p Piece) windows() []uint64 {
	padded := slices.Concat(make([]byte, window-1), p.Data, make([]byte, window-1))
	all := make([]uint64, 0, len(p.Data)+window-1)
	for at := 0; at+window <= len(padded); at++ {
		all = append(all, maphash.Bytes(seed, padded[at:at+window]))
	}
	return all
}

// whole is the hash of all of a piece: few symbols, such as spaces and tabs, make the same
// windows of any secret in another order.
func (p Piece) whole() uint64 { return maphash.Bytes(seed, p.Data) }

// index makes the features known.
func (r *Record) index() {
	if r.features != nil {
		return
	}
	r.features = make([]uint64, 0, r.size)
	for _, p := range r.pieces {
		r.features = append(append(r.features, p.windows()...), p.whole())
	}
	for _, n := range r.numbers {
		r.features = append(r.features, n.feature)
	}
	slices.Sort(r.features)
	r.features = slices.Compact(r.features)
}

func (r *Record) has(feature uint64) bool {
	_, found := slices.BinarySearch(r.features, feature)
	return found
}

// Same reports whether all that left in one launch left in the other.
func (r *Record) Same(other *Record) bool {
	r.index()
	other.index()
	return slices.Equal(r.features, other.features)
}

// shown is a text for people.
func shown(data []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '.'
		}
		return r
	}, string(data))
}
