package ptrace

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// clock is the time that traced programs see. It is the true time until the server begins.
//
// Each program starts without the kernel's shared memory (vdso(7)), so that it has to ask the
// kernel for the time: the tracer answers in the kernel's place. A timeout is changed when a
// task begins to wait, and restored when it has waited.
type clock struct {
	trace.Clock
	begun bool
	// start has the kernel's clocks when the server began, in nanoseconds.
	start [unix.CLOCK_TAI + 1]int64
	// stamps is the earliest time, in nanoseconds, that the kernel stamps on a file of the server's: its coarse clock
	// lags behind by some ticks.
	stamps int64
	// from and resume are when the clock last stopped and when it goes on, in true nanoseconds after the server
	// began; held is the sum of these pauses.
	from, resume, held int64
	// fast is when Clock began to apply, in true nanoseconds after the server began; 0 before that.
	fast int64
	// parted is when the client left, in true nanoseconds after the server began; 0 before that.
	parted int64
}

// A fast clock stands still when a program wakes from a long sleep and when it uses the network: otherwise a timeout of
// five seconds would expire before an answer can come.
const (
	// mostHeld bounds how long it stands still in all. Each stop takes 1/parts of the rest.
	mostHeld = 2 * time.Second
	parts    = 6
	// longSleep is the least duration of a long sleep, as the program sees it.
	longSleep = time.Minute
)

// hold stops a fast clock for a while. It catches up afterwards.
func (c *clock) hold() {
	now, while := c.truly(unix.CLOCK_MONOTONIC), (int64(mostHeld)-c.held)/parts
	if c.seen(now+while)-c.seen(now) <= 2*while {
		return
	}
	if now >= c.resume {
		c.from, c.resume = now, now
	}
	if longer := now + while - c.resume; longer > 0 {
		c.resume, c.held = c.resume+longer, c.held+longer
	}
}

// slept returns the value of passed at which a wait that begins now ends; 0 if it is no long sleep.
func (c *clock) slept(duration int64) int64 {
	if duration < int64(longSleep) {
		return 0
	}
	return c.passed() + duration
}

// passed returns how much time has passed since the server began, as programs see it.
func (c *clock) passed() int64 { return c.seen(c.since(unix.CLOCK_MONOTONIC)) }

// own is the file of this program.
const own = "/proc/self/exe"

// begin starts the clock when a task executes the first program other than ours. It
// reports whether the task's program is such a one.
func (c *clock) begin(tid int) bool {
	if sameFile("/proc/"+strconv.Itoa(tid)+"/exe", own) {
		return false
	}
	if c.begun {
		return true
	}
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) == nil {
		c.stamps = now.Nano()
	}
	for id := range c.start {
		if unix.ClockGettime(fine(int32(id)), &now) == nil { //nolint:gosec // twelve of them
			c.start[id] = now.Nano()
		}
	}
	c.begun = true
	return true
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// fine returns the exact clock in place of its coarse variant.
func fine(id int32) int32 {
	switch id {
	case unix.CLOCK_REALTIME_COARSE:
		return unix.CLOCK_REALTIME
	case unix.CLOCK_MONOTONIC_COARSE:
		return unix.CLOCK_MONOTONIC
	}
	return id
}

// date reports whether a clock tells the date (clock_gettime(2)).
func date(id int32) bool {
	switch id {
	case unix.CLOCK_REALTIME, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_REALTIME_ALARM, unix.CLOCK_TAI:
		return true
	}
	return false
}

// tells reports whether we answer for a clock: for all but those of CPU time.
func (c *clock) tells(id int32) bool {
	return id >= 0 && int(id) < len(c.start) && id != unix.CLOCK_PROCESS_CPUTIME_ID && id != unix.CLOCK_THREAD_CPUTIME_ID
}

// firstWait is the least wait at which Clock begins to apply; it does after trace.MostTrue at the latest. Until then
// time is true: otherwise hours would pass while a runtime loads, and its timers would expire at once.
const firstWait = time.Second

// seen returns how much time programs see pass in the given true time, in nanoseconds.
func (c *clock) seen(elapsed int64) int64 {
	if c.parted > 0 && elapsed > c.parted {
		return c.planned(c.parted) + (elapsed-c.parted)*hurry
	}
	return c.planned(elapsed)
}

// planned is Clock.Seen in nanoseconds, from when Clock applies.
func (c *clock) planned(elapsed int64) int64 {
	if c.fast == 0 || elapsed < c.fast {
		return elapsed
	}
	return c.fast + int64(c.Seen(time.Duration(elapsed-c.fast)))
}

// elapsed is the inverse of seen.
func (c *clock) elapsed(seen int64) int64 {
	if until := c.planned(c.parted); c.parted > 0 && seen > until {
		return c.parted + (seen-until)/hurry
	}
	if c.fast == 0 || seen < c.fast {
		return seen
	}
	return c.fast + int64(c.Elapsed(time.Duration(seen-c.fast)))
}

// since returns the time since the server began, by a clock; while the clock stands still, until it stopped.
func (c *clock) since(id int32) int64 {
	at := c.truly(id)
	if c.fast == 0 && at > int64(trace.MostTrue) {
		c.fast = int64(trace.MostTrue)
	}
	return c.told(at)
}

// told returns the time that programs see for a true time since the server began, before it is sped up.
func (c *clock) told(at int64) int64 {
	if at >= c.from && at < c.resume {
		return c.from
	}
	return at
}

// truly returns the true time since the server began, by a clock.
func (c *clock) truly(id int32) int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(id, &now); err != nil {
		return 0
	}
	return max(0, now.Nano()-c.start[id])
}

// now returns the time that a clock shows to programs, in nanoseconds.
func (c *clock) now(id int32) int64 { return c.shown(id, c.since(id)) }

// shown returns the time that a clock shows to programs, elapsed nanoseconds after the server began.
func (c *clock) shown(id int32, elapsed int64) int64 {
	at := c.start[id] + c.seen(elapsed)
	switch {
	case date(id):
		at += int64(c.Forward)
	case id == unix.CLOCK_BOOTTIME, id == unix.CLOCK_BOOTTIME_ALARM:
		at += int64(up)
	}
	return at
}

// up is added to the time since boot: a machine that has just been started looks like a sandbox.
const up = 23 * 24 * time.Hour

const (
	// forever is the least wait that is taken for one without an end.
	forever = 100 * 365 * 24 * time.Hour
	// shortest is the least that a wait is shortened to: a program that reads the clock each
	// time that it wakes must not keep a processor busy.
	shortest = 50 * time.Microsecond
)

// wait returns the true duration of a program's wait, in nanoseconds.
func (c *clock) wait(duration int64) int64 {
	if duration <= 0 || duration > int64(forever) {
		return duration
	}
	passed := c.passed()
	if c.fast == 0 && duration >= int64(firstWait) {
		c.fast = max(1, c.truly(unix.CLOCK_MONOTONIC))
	}
	due := max(c.elapsed(passed+duration), c.resume)
	return max(due-c.truly(unix.CLOCK_MONOTONIC), min(duration, int64(shortest)))
}

// until returns the true time at which a clock shows programs a given time, in nanoseconds.
func (c *clock) until(id int32, at int64) int64 {
	shown := at - c.shown(id, 0)
	if shown > int64(forever) {
		return at
	}
	elapsed := c.elapsed(max(0, shown))
	if elapsed > c.from {
		elapsed = max(elapsed, c.resume)
	}
	return c.start[id] + elapsed
}
