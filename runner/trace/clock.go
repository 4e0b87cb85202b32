package trace

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Clock is the time that traced programs see, from soon after the server's start on (MostTrue). The zero value
// is the true time; any other needs our own tracer, the backend Ptrace.
type Clock struct {
	// Forward is added to dates. Timers do not change.
	Forward time.Duration
	// Rate multiplies the speed of all clocks and timers for the true time For. Afterwards they
	// continue from where they are, at normal speed.
	Rate int64
	For  time.Duration
	// Again is when, in true time, they go as fast once more, for half of For; 0: never.
	Again time.Duration
}

// True reports whether it is the true time.
func (c Clock) True() bool { return c == Clock{} }

// Seen returns how much time programs see pass in the given true time.
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

// Slow returns the true time after which the clocks go at normal speed for good.
func (c Clock) Slow() time.Duration { return MostTrue + slices.Max(c.turns()) }

// turns returns when the clocks turn slow, fast and slow again.
func (c Clock) turns() []time.Duration {
	if c.Again == 0 {
		return []time.Duration{c.For}
	}
	return []time.Duration{c.For, c.Again, c.Again + c.For/2}
}

func (c Clock) rate() int64 { return max(1, c.Rate) }

// From returns a function for the date that programs see, if the server starts now.
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
