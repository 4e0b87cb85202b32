// Package depend finds out whether what leaves a server depends on a secret, whatever was done
// to the secret: what is the same in all launches with the same decoys, and in none with
// others, does. It compares records of launches, and is pure.
package depend

import (
	"fmt"
	"hash/maphash"
	"math"
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
	// maxPlace bounds what is shown of a piece for its place, in bytes.
	maxPlace = 32
	// shortest is the shortest pause that counts: a machine that is busy makes such ones.
	shortest = 20 * time.Millisecond
)

// The weights of a byte or a number, of a pause, and of a place, which may be the same by chance in several launches
// where a server does several things at once.
const (
	weighty = 6
	paused  = 3
	placed  = 1
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
	courses  map[Way]course
	numbers  []number
	// Rest stands for what is not kept.
	Rest Rest
}

// Rest is a sum over what is not kept: the same for two launches if that was the same, in any order.
type Rest uint64

// Add adds data that is not kept.
func (r *Rest) Add(data []byte) { *r += Rest(maphash.Bytes(seed, data)) }

// course is how many pieces have taken one way, and when the last one did.
type course struct {
	pieces int
	last   time.Time
}

// number is one of several numbers that could say something: a size, a port.
type number struct {
	way     Way
	named   string
	time    time.Time
	feature uint64
	what    string
	value   int
	// text says it for people; weight is how much it counts.
	text   string
	weight int
}

var seed = maphash.MakeSeed()

// Add enters a piece, and its size. Secrets are in texts; who sends one as sizes sends many
// pieces the same way.
func (r *Record) Add(p Piece) {
	if room := maxRecord - r.size; len(p.Data) > room {
		r.Rest.Add(p.Data[room:])
		p.Data = p.Data[:room]
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
	is := number{way: Way{Channel: p.Channel, Destination: p.Destination}, what: what, value: value}
	if r.counted == nil {
		r.counted = map[number]int{}
	}
	r.counted[is]++
	feature := maphash.Comparable(seed, [2]any{is, r.counted[is]})
	r.enter(p, feature, fmt.Sprintf("%s %d", what, value), weighty)
}

// enter keeps a feature of a piece besides its bytes. Pauses vary too much to count in Rest.
func (r *Record) enter(p Piece, feature uint64, text string, weight int) {
	if len(r.numbers) == maxNumbers {
		if weight != paused {
			r.Rest += Rest(feature)
		}
		return
	}
	r.numbers = append(r.numbers, number{way: p.Way, named: p.Named, time: p.Time, feature: feature, text: text, weight: weight})
	r.features = nil
}

// Follow enters the place of a piece among those that take the same way, and how long the one before it was ago: what is
// told by an order, or by pauses, is in no byte. Both vary by themselves, so that they count less.
func (r *Record) Follow(p Piece) {
	way := Way{Channel: p.Channel, Destination: p.Destination}
	c := r.courses[way]
	if r.courses == nil {
		r.courses = map[Way]course{}
	}
	r.courses[way] = course{c.pieces + 1, p.Time}
	r.enter(p, maphash.Comparable(seed, [3]any{way, c.pieces, p.whole()}), fmt.Sprintf("%d: %s", c.pieces+1, shown(p.Data[:min(len(p.Data), maxPlace)])), placed)
	if pause := p.Time.Sub(c.last); c.pieces > 0 && pause > shortest {
		steps := int(2 * math.Log2(float64(pause)/float64(shortest)))
		r.enter(p, maphash.Comparable(seed, [3]any{way, -c.pieces, steps}), fmt.Sprintf("after %d ms", pause.Milliseconds()), paused)
	}
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
	return r.Rest == other.Rest && slices.Equal(r.features, other.features)
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
