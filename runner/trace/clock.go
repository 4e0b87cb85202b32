package trace

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Clock is the time that traced programs see, from soon after the start of the server on (MostTrue). The zero
// value is the true time; any other takes our own tracer, the backend Ptrace.
type Clock struct {
	// Forward is added to dates. Timers go on as they are.
	Forward time.Duration
	// Rate is how many times faster all clocks and timers go for the time For, which is true time.
	// Afterwards they go on from where they are, at their usual speed.
	Rate int64
	For  time.Duration
	// Again is when they go as fast once more, in true time, for half of that while; 0: never.
	Again time.Duration
}

// True reports whether it is the true time.
func (c Clock) True() bool { return c == Clock{} }

// Seen is how much time programs have seen go by in so much true time.
func (c Clock) Seen(elapsed time.Duration) time.Duration {
	fast := min(elapsed, c.For)
	if c.Again > 0 {
		fast += min(max(0, elapsed-c.Again), c.For/2)
	}
	return elapsed + fast*time.Duration(c.rate()-1)
}

// Elapsed is the inverse of Seen.
func (c Clock) Elapsed(seen time.Duration) time.Duration {
	elapsed, fast := time.Duration(0), true
	for _, end := range c.turns() {
		speed := time.Duration(1)
		if fast {
			speed = time.Duration(c.rate())
		}
		if span := (end - elapsed) * speed; seen > span {
			elapsed, seen, fast = end, seen-span, !fast
			continue
		}
		return elapsed + seen/speed
	}
	return elapsed + seen
}

// MostTrue bounds how long programs see the true time first: until one of them waits.
const MostTrue = 500 * time.Millisecond

// Slow is from when on the clocks go as ever, in true time.
func (c Clock) Slow() time.Duration { return MostTrue + slices.Max(c.turns()) }

// turns are when the clocks turn slow, and fast, by turns.
func (c Clock) turns() []time.Duration {
	if c.Again == 0 {
		return []time.Duration{c.For}
	}
	return []time.Duration{c.For, c.Again, c.Again + c.For/2}
}

func (c Clock) rate() int64 { return max(1, c.Rate) }

// From returns what tells the date that programs see, if the server begins now.
func (c Clock) From(now time.Time) func() time.Time {
	return func() time.Time { return now.Add(c.Forward + c.Seen(time.Since(now))) }
}

var errClock = errors.New("want FORWARD,RATE,FOR,AGAIN")

// String returns what ParseClock reads.
func (c Clock) String() string { return fmt.Sprintf("%s,%d,%s,%s", c.Forward, c.Rate, c.For, c.Again) }

// ParseClock reads what String returns.
func ParseClock(text string) (Clock, error) {
	parts := strings.Split(text, ",")
	if len(parts) != 4 {
		return Clock{}, errClock
	}
	forward, err := time.ParseDuration(parts[0])
	rate, badRate := strconv.ParseInt(parts[1], 10, 64)
	during, badFor := time.ParseDuration(parts[2])
	again, badAgain := time.ParseDuration(parts[3])
	if err := errors.Join(err, badRate, badFor, badAgain); err != nil {
		return Clock{}, err
	}
	if rate < 0 || during < 0 || again < 0 || again > 0 && again < during {
		return Clock{}, errClock
	}
	return Clock{Forward: forward, Rate: rate, For: during, Again: again}, nil
}
