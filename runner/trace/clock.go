package trace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Clock is the time that traced programs see, from the start of the server on. The zero
// value is the true time; any other takes our own tracer, the backend Ptrace.
type Clock struct {
	// Forward is added to dates. Timers go on as they are.
	Forward time.Duration
	// Rate is how many times faster all clocks and timers go for a while, and For is that
	// while in true time. Afterwards they go on from where they are, as ever.
	Rate int64
	For  time.Duration
}

// True reports whether it is the true time.
func (c Clock) True() bool { return c == Clock{} }

// Seen is how much time programs have seen go by in so much true time.
func (c Clock) Seen(elapsed time.Duration) time.Duration {
	return elapsed + min(elapsed, c.For)*time.Duration(max(1, c.Rate)-1)
}

// From returns what tells the date that programs see, if the server begins now.
func (c Clock) From(now time.Time) func() time.Time {
	return func() time.Time { return now.Add(c.Forward + c.Seen(time.Since(now))) }
}

var errClock = errors.New("want FORWARD,RATE,FOR")

// String returns what ParseClock reads.
func (c Clock) String() string { return fmt.Sprintf("%s,%d,%s", c.Forward, c.Rate, c.For) }

// ParseClock reads what String returns.
func ParseClock(text string) (Clock, error) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return Clock{}, errClock
	}
	forward, err := time.ParseDuration(parts[0])
	rate, badRate := strconv.ParseInt(parts[1], 10, 64)
	during, badFor := time.ParseDuration(parts[2])
	if err := errors.Join(err, badRate, badFor); err != nil {
		return Clock{}, err
	}
	if rate < 0 || during < 0 {
		return Clock{}, errClock
	}
	return Clock{Forward: forward, Rate: rate, For: during}, nil
}
