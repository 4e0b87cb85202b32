// Package depend tests whether data that leaves a server depends on a secret, whatever was done to the secret: it
// does if it is the same in all launches with the same decoys, and in none with others. The package compares records
// of launches, and is pure.
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
	// window is the number of bytes that are compared at once. A byte that differs is in as many windows.
	window = 8
	// maxRecord bounds the data that is kept of one launch, in bytes.
	maxRecord = 512 << 10
	// maxNumbers bounds the numbers of one launch.
	maxNumbers = 4096
	// maxPlace bounds how much of a piece identifies its position, in bytes.
	maxPlace = 32
	// shortest is the shortest pause that counts; a busy machine causes shorter ones. slowest is the same for an answer,
	// which every server gives.
	shortest = 20 * time.Millisecond
	slowest  = 80 * time.Millisecond
)

// Weights of a byte or a number, of a pause, of a message in its call, and of a position. The latter may agree by chance
// in several launches if a server does several things at once, and so may what it chooses from a few words.
const (
	weighty = 6
	paused  = 3
	delayed = 2
	chosen  = 3
	placed  = 1
)

// Piece is data that left the server at once.
type Piece struct {
	Way
	Data []byte
	// Time is when it left.
	Time time.Time
	// Named is the name for which the destination's address was given out; "" for none.
	Named string
}

// Way is the channel and destination of data in one part of the session.
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
	turns    map[Way]turn
	numbers  []number
	// Rest is a checksum of the data beyond the bounds, which is not kept.
	Rest Rest
}

// Rest is a sum that is independent of order: it is equal for two launches if the rest was equal.
type Rest uint64

// Add adds data that is not kept.
func (r *Rest) Add(data []byte) { *r += Rest(maphash.Bytes(seed, data)) }

// course counts the pieces of one way, with the time of the last one.
type course struct {
	pieces int
	last   time.Time
}

// turn counts the calls of one way that were answered, and the messages since then.
type turn struct{ calls, messages int }

// number is one of several numbers that could carry information: a size, a port.
type number struct {
	way     Way
	named   string
	time    time.Time
	feature uint64
	what    string
	value   int
	// text describes it for people; weight is how much it counts.
	text   string
	weight int
}

var seed = maphash.MakeSeed()

// Add adds a piece and its size. Sizes count only in number, because data sent as sizes takes many pieces of the same
// way.
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

// Number adds a number of a piece's way, such as a port or a size; what describes it. The same number may occur
// several times.
func (r *Record) Number(p Piece, what string, value int) {
	is := number{way: Way{Channel: p.Channel, Destination: p.Destination}, what: what, value: value}
	if r.counted == nil {
		r.counted = map[number]int{}
	}
	r.counted[is]++
	feature := maphash.Comparable(seed, [2]any{is, r.counted[is]})
	r.enter(p, feature, fmt.Sprintf("%s %d", what, value), weighty)
}

// enter adds a feature of a piece besides its bytes. Pauses vary too much to count in Rest.
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

// Follow adds the position of a piece among those of the same way, and the pause before it, because order and pauses
// carry information without bytes. Both vary by themselves, so they count less.
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

// Delay adds how long the server took for the answer that the next Turn adds, because that carries information, too. A
// delay counts in two scales, shifted by half a step, so that two similar ones agree in at least one.
func (r *Record) Delay(p Piece, took time.Duration) {
	if took < slowest || len(r.numbers) >= maxNumbers-1 {
		return
	}
	way := Way{Where: ledger.Where{Capability: p.Capability}, Channel: p.Channel}
	steps := 2 * math.Log2(float64(took)/float64(shortest))
	for shift, text := range []string{fmt.Sprintf("answered after %d ms", took.Milliseconds()), ""} {
		r.enter(p, maphash.Comparable(seed, [4]any{way, r.turns[way].calls, int(steps + float64(shift)/2), shift}), text, delayed)
	}
}

// Turn adds which message a piece is in which call, because the choice of an answer and the number of messages carry
// information without new bytes. Calls are counted by their answers, so that a message more or less changes one call.
func (r *Record) Turn(p Piece, answer bool) {
	way := Way{Where: ledger.Where{Capability: p.Capability}, Channel: p.Channel}
	t := r.turns[way]
	r.enter(p, maphash.Comparable(seed, [3]any{way, t, p.whole()}), fmt.Sprintf("%d: %s", t.calls+1, shown(p.Data[:min(len(p.Data), maxPlace)])), chosen)
	if t.messages++; answer {
		t = turn{calls: t.calls + 1}
	}
	if r.turns == nil {
		r.turns = map[Way]turn{}
	}
	r.turns[way] = t
}

// windows returns hashes of the windows of a piece; those at its ends reach beyond it.
func (p Piece) windows() []uint64 {
	padded := slices.Concat(make([]byte, window-1), p.Data, make([]byte, window-1))
	all := make([]uint64, 0, len(p.Data)+window-1)
	for at := 0; at+window <= len(padded); at++ {
		all = append(all, maphash.Bytes(seed, padded[at:at+window]))
	}
	return all
}

// whole returns the hash of a whole piece: with few symbols, such as spaces and tabs, any secret gives the same
// windows in another order.
func (p Piece) whole() uint64 { return maphash.Bytes(seed, p.Data) }

// index computes the sorted features.
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

// Same reports whether everything that left in one launch left in the other.
func (r *Record) Same(other *Record) bool {
	r.index()
	other.index()
	return r.Rest == other.Rest && slices.Equal(r.features, other.features)
}

// shown returns a text for people.
func shown(data []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '.'
		}
		return r
	}, string(data))
}
