package ptrace

import (
	"encoding/binary"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// timed is a call that returns the time or waits, or whose result has to be changed.
type timed struct {
	syscalls.Call
	// tells writes the time into the memory of a task in the kernel's place, and returns the
	// call's result; false where that is left to the kernel. Nil for a call that waits.
	tells func(c *clock, k *task) (result int64, done bool)
	// argument is the index of the timeout.
	argument int
	unit     unit
	// until returns the clock of an absolute timeout, noClock if it may be any; false for a
	// relative one. Nil for calls that take only relative timeouts.
	until func(arguments [6]uint64) (id int32, ok bool)
	// waits reports whether the call is for waiting at all; nil where it always is.
	waits func(arguments [6]uint64) bool
	// answers changes what the call has answered; nil for one that tells the time, or waits.
	answers answers
}

// unit is the form of a timeout.
type unit int

const (
	milliseconds unit = iota // an int; negative: for ever
	seconds                  // an unsigned int
	timespec                 // the address of a struct; so are those that follow
	timeval
	itimerspec // the interval of a timer, and when it goes off first
	itimerval
)

// pairs returns how many times a struct has, and the unit of their second numbers in
// nanoseconds.
func (u unit) pairs() (count int, scale int64) {
	switch u {
	case timeval:
		return 1, int64(time.Microsecond)
	case itimerspec:
		return 2, 1
	case itimerval:
		return 2, int64(time.Microsecond)
	}
	return 1, 1
}

// noClock: the call names a timer, whose clock is not known.
const noClock = -1

// Flags and operations of clock_nanosleep(2) and futex(2).
const (
	timerAbsolute = 1
	futexWait     = 0
	futexLockPI   = 6
	futexPrivate  = 128
	futexRealtime = 256
)

// timedCalls are the calls that return the time or wait. Other waits, such as those of io_uring, take their true time.
var timedCalls = []timed{
	{Call: syscalls.Call{Name: "clock_gettime", AMD64: 228, ARM64: 113}, tells: tellClock},
	{Call: syscalls.Call{Name: "gettimeofday", AMD64: 96, ARM64: 169}, tells: tellTimeOfDay},
	{Call: syscalls.Call{Name: "time", AMD64: 201, ARM64: -1}, tells: tellTime},
	{Call: syscalls.Call{Name: "adjtimex", AMD64: 159, ARM64: 171}, tells: tellAdjusted(0)},
	{Call: syscalls.Call{Name: "clock_adjtime", AMD64: 305, ARM64: 266}, tells: tellAdjusted(1)},
	{Call: syscalls.Call{Name: "sysinfo", AMD64: 99, ARM64: 179}, tells: tellUptime},
	{Call: syscalls.Call{Name: "nanosleep", AMD64: 35, ARM64: 101}, unit: timespec},
	{Call: syscalls.Call{Name: "clock_nanosleep", AMD64: 230, ARM64: 115}, argument: 2, unit: timespec, until: untilFlagged},
	{Call: syscalls.Call{Name: "futex", AMD64: 202, ARM64: 98}, argument: 3, unit: timespec, until: untilFutex, waits: futexWaits},
	{Call: syscalls.Call{Name: "futex_waitv", AMD64: 449, ARM64: 449}, argument: 3, unit: timespec,
		until: func(a [6]uint64) (int32, bool) { return int32(a[4]), true }}, //nolint:gosec // an int of the kernel's
	{Call: syscalls.Call{Name: "poll", AMD64: 7, ARM64: -1}, argument: 2},
	{Call: syscalls.Call{Name: "epoll_wait", AMD64: 232, ARM64: -1}, argument: 3},
	{Call: syscalls.Call{Name: "epoll_pwait", AMD64: 281, ARM64: 22}, argument: 3},
	{Call: syscalls.Call{Name: "epoll_pwait2", AMD64: 441, ARM64: 441}, argument: 3, unit: timespec},
	{Call: syscalls.Call{Name: "ppoll", AMD64: 271, ARM64: 73}, argument: 2, unit: timespec},
	{Call: syscalls.Call{Name: "select", AMD64: 23, ARM64: -1}, argument: 4, unit: timeval},
	{Call: syscalls.Call{Name: "pselect6", AMD64: 270, ARM64: 72}, argument: 4, unit: timespec},
	{Call: syscalls.Call{Name: "rt_sigtimedwait", AMD64: 128, ARM64: 137}, argument: 2, unit: timespec},
	{Call: syscalls.Call{Name: "semtimedop", AMD64: 220, ARM64: 192}, argument: 3, unit: timespec},
	{Call: syscalls.Call{Name: "mq_timedsend", AMD64: 242, ARM64: 182}, argument: 4, unit: timespec, until: untilDate},
	{Call: syscalls.Call{Name: "mq_timedreceive", AMD64: 243, ARM64: 183}, argument: 4, unit: timespec, until: untilDate},
	{Call: syscalls.Call{Name: "setsockopt", AMD64: 54, ARM64: 208}, argument: 3, unit: timeval, waits: limitsSocket},
	{Call: syscalls.Call{Name: "timerfd_settime", AMD64: 286, ARM64: 86}, argument: 2, unit: itimerspec, until: untilTimer},
	{Call: syscalls.Call{Name: "timer_settime", AMD64: 223, ARM64: 110}, argument: 2, unit: itimerspec, until: untilTimer},
	{Call: syscalls.Call{Name: "setitimer", AMD64: 38, ARM64: 103}, argument: 1, unit: itimerval},
	{Call: syscalls.Call{Name: "alarm", AMD64: 37, ARM64: -1}, unit: seconds},
}

// untilFlagged reads the arguments of clock_nanosleep(2).
func untilFlagged(a [6]uint64) (int32, bool) { return int32(a[0]), a[1]&timerAbsolute != 0 } //nolint:gosec // an int of the kernel's

// untilDate serves calls that always wait until a date.
func untilDate([6]uint64) (int32, bool) { return unix.CLOCK_REALTIME, true }

// limitsSocket reports whether a call of setsockopt(2) sets a timeout for calls on the
// socket: socket(7), SO_RCVTIMEO and SO_SNDTIMEO.
func limitsSocket(a [6]uint64) bool {
	option := a[2] == unix.SO_RCVTIMEO || a[2] == unix.SO_SNDTIMEO || a[2] == unix.SO_RCVTIMEO_NEW || a[2] == unix.SO_SNDTIMEO_NEW
	return a[1] == unix.SOL_SOCKET && option && a[4] >= 16
}

// untilTimer reads the arguments of timerfd_settime(2) and timer_settime(2).
func untilTimer(a [6]uint64) (int32, bool) { return noClock, a[1]&timerAbsolute != 0 }

// untilFutex reads the arguments of futex(2): all operations but one wait until a date.
func untilFutex(a [6]uint64) (int32, bool) {
	op := a[1] &^ (futexPrivate | futexRealtime)
	if op == futexLockPI || a[1]&futexRealtime != 0 {
		return unix.CLOCK_REALTIME, op != futexWait
	}
	return unix.CLOCK_MONOTONIC, op != futexWait
}

// futexWaits reports whether an operation of futex(2) may wait: the others have a number in place of
// the timeout.
func futexWaits(a [6]uint64) bool {
	switch a[1] &^ (futexPrivate | futexRealtime) {
	case futexWait, 9, futexLockPI, 11, 13: // FUTEX_WAIT_BITSET, FUTEX_WAIT_REQUEUE_PI, FUTEX_LOCK_PI2
		return true
	}
	return false
}

func tellClock(c *clock, k *task) (int64, bool) {
	id := int32(k.arguments[0]) //nolint:gosec // an int of the kernel's
	if !c.tells(id) {
		return 0, false
	}
	return 0, pokeTime(k.pid, k.arguments[1], c.now(id), timespec)
}

func tellTimeOfDay(c *clock, k *task) (int64, bool) {
	return 0, k.arguments[1] == 0 && pokeTime(k.pid, k.arguments[0], c.now(unix.CLOCK_REALTIME), timeval)
}

func tellTime(c *clock, k *task) (int64, bool) {
	now := c.now(unix.CLOCK_REALTIME) / int64(time.Second)
	var raw [8]byte
	binary.NativeEndian.PutUint64(raw[:], uint64(now)) //nolint:gosec // not negative
	return now, k.arguments[0] == 0 || poke(k.pid, k.arguments[0], raw[:])
}

// tellAdjusted answers adjtimex(2) and clock_adjtime(2) where they change nothing: how a clock is kept, and its time.
func tellAdjusted(argument int) func(*clock, *task) (int64, bool) {
	return func(c *clock, k *task) (int64, bool) {
		at := k.arguments[argument]
		var modes [4]byte
		if peek(k.pid, at, modes[:]) < len(modes) || binary.NativeEndian.Uint32(modes[:]) != 0 || argument > 0 && k.arguments[0] != unix.CLOCK_REALTIME {
			return 0, false
		}
		var kept unix.Timex
		state, err := unix.Adjtimex(&kept)
		if err != nil {
			return 0, false
		}
		now := c.now(unix.CLOCK_REALTIME)
		kept.Time = unix.Timeval{Sec: now / int64(time.Second), Usec: now % int64(time.Second) / int64(time.Microsecond)}
		if kept.Status&unix.STA_NANO != 0 {
			kept.Time.Usec = now % int64(time.Second)
		}
		raw := unsafe.Slice((*byte)(unsafe.Pointer(&kept)), unsafe.Sizeof(kept)) // as the kernel lays it out, with its holes
		return int64(state), poke(k.pid, at, raw)
	}
}

// tellUptime answers sysinfo(2), which has the seconds since boot.
func tellUptime(c *clock, k *task) (int64, bool) {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0, false
	}
	more := missingMemory(&info) / uint64(max(info.Unit, 1))
	raw, err := binary.Append(nil, binary.NativeEndian, struct { // sysinfo(2), with the holes that C leaves
		Uptime    int64
		Loads     [3]uint64
		Memory    [6]uint64
		Processes uint16
		_         [6]byte
		High      [2]uint64
		Unit      uint32
		_         [4]byte
	}{
		Uptime: c.now(unix.CLOCK_BOOTTIME) / int64(time.Second), Loads: info.Loads,
		Memory:    [6]uint64{info.Totalram + more, info.Freeram + more, info.Sharedram, info.Bufferram, info.Totalswap, info.Freeswap},
		Processes: info.Procs, High: [2]uint64{info.Totalhigh, info.Freehigh}, Unit: info.Unit,
	})
	return 0, err == nil && k.arguments[0] != 0 && poke(k.pid, k.arguments[0], raw)
}

// wait holds the timeout that was asked for, of a call that waits for less; or the change to a
// call's result.
type wait struct {
	answer   func()
	slept    int64 // as of clock.slept
	argument int
	value    uint64 // of the argument
	address  uint64 // of the memory; 0 where the argument is all
	memory   []byte
}

// numbersOf returns the timed calls of this architecture by their numbers.
func numbersOf(calls []timed) map[uint64]*timed {
	all := map[uint64]*timed{}
	for i, c := range calls {
		if number, ok := c.Native(); ok {
			all[uint64(number)] = &calls[i]
		}
	}
	return all
}

// retime handles the entry of a timed call.
func (t *tracer) retime(k *task, of *timed) {
	if of.answers != nil {
		if change := of.answers(t, k, of); change != nil {
			k.waits = &wait{answer: change}
		}
		return
	}
	if of.tells != nil {
		if result, done := of.tells(&t.clock, k); done {
			if err := skip(k.pid, result); err != nil {
				_ = unix.Kill(k.pid, unix.SIGKILL) // it would take another time for the result
			}
		}
		return
	}
	value := k.arguments[of.argument]
	switch {
	case of.unit == milliseconds && int32(value) > 0: //nolint:gosec // an int of the kernel's
		k.waits = &wait{slept: t.clock.slept(int64(value) * int64(time.Millisecond)), argument: of.argument, value: value}
		setArgument(k.pid, of.argument, t.clock.ticks(int64(value), time.Millisecond))
	case of.unit == seconds && value > 0:
		k.waits = &wait{argument: of.argument, value: value}
		setArgument(k.pid, of.argument, t.clock.ticks(int64(value), time.Second)) //nolint:gosec // of 32 bits
	case of.unit < timespec || value == 0, of.waits != nil && !of.waits(k.arguments):
	default:
		t.retimeMemory(k, of, value)
	}
}

// ticks returns how many ticks to wait in place of n: at least one.
func (c *clock) ticks(n int64, tick time.Duration) uint64 {
	return uint64((c.wait(n*int64(tick)) + int64(tick) - 1) / int64(tick)) //nolint:gosec // not negative
}

// retimeMemory changes the struct that has the timeout of a call.
func (t *tracer) retimeMemory(k *task, of *timed, address uint64) {
	pairs, scale := of.unit.pairs()
	raw := make([]byte, pairs*16)
	if peek(k.pid, address, raw) < len(raw) {
		return // the kernel will say so
	}
	changed, slept := make([]byte, 0, len(raw)), int64(0)
	for i := range pairs {
		at := time.Duration(binary.NativeEndian.Uint64(raw[i*16:]))*time.Second + time.Duration(binary.NativeEndian.Uint64(raw[i*16+8:]))*time.Duration(scale) //nolint:gosec // as the kernel takes it
		if binary.NativeEndian.Uint64(raw[i*16:]) > uint64(forever/time.Second) {
			return // without an end, or refused
		}
		ns := t.clock.wait(int64(at))
		slept = t.clock.slept(int64(at))
		if of.until != nil && i == pairs-1 {
			if id, ok := of.until(k.arguments); ok {
				id = t.clock.named(id, int64(at))
				ns, slept = t.clock.until(id, int64(at)), t.clock.slept(int64(at)-t.clock.now(id))
			}
		}
		changed = appendTime(changed, ns, scale)
	}
	if poke(k.pid, address, changed) {
		k.waits = &wait{slept: slept, address: address, memory: raw}
	}
}

// named returns the clock of a point in time. Where the call does not name it, its size says whether it is a date: no
// machine is up for so long.
func (c *clock) named(id int32, at int64) int32 {
	switch {
	case id != noClock && c.tells(id):
		return id
	case at > c.start[unix.CLOCK_REALTIME]/2:
		return unix.CLOCK_REALTIME
	}
	return unix.CLOCK_MONOTONIC
}

// waited restores the timeout when the call has waited.
func (t *tracer) waited(k *task) {
	if w := k.waits; w.answer != nil {
		w.answer()
	} else if w.address != 0 {
		_ = poke(k.pid, w.address, w.memory) // a task that is gone tells by its end
	} else {
		setArgument(k.pid, w.argument, w.value)
	}
	if k.waits.slept > 0 && t.clock.passed() >= k.waits.slept {
		t.clock.hold()
	}
	k.waits = nil
}

func appendTime(b []byte, ns, scale int64) []byte {
	b = binary.NativeEndian.AppendUint64(b, uint64(ns/int64(time.Second)))          //nolint:gosec // as the kernel takes it
	return binary.NativeEndian.AppendUint64(b, uint64(ns%int64(time.Second)/scale)) //nolint:gosec // as the kernel takes it
}

// pokeTime writes a time into the memory of a task.
func pokeTime(tid int, address uint64, ns int64, u unit) bool {
	_, scale := u.pairs()
	return address != 0 && poke(tid, address, appendTime(nil, ns, scale))
}

// poke writes into the memory of a task, even where the task itself cannot.
func poke(tid int, address uint64, data []byte) bool {
	n, err := unix.PtracePokeData(tid, uintptr(address), data)
	return err == nil && n == len(data)
}

// Entries of the auxiliary vector (getauxval(3)).
const (
	auxNull   = 0
	auxIgnore = 1
	auxVDSO   = 33 // AT_SYSINFO_EHDR
)

// hideTime removes the kernel's shared memory (vdso(7)) from the auxiliary vector of a program that is
// about to start, so that it asks the kernel for the time.
func hideTime(tid int) {
	at, ok := stackPointer(tid)
	if !ok {
		return
	}
	var raw [8]byte
	word := func() uint64 {
		if peek(tid, at, raw[:]) < len(raw) {
			ok = false
		}
		at += 8
		return binary.NativeEndian.Uint64(raw[:])
	}
	at += 8 * (word() + 1) // the arguments, and the 0 behind them
	for word() != 0 && ok {
	}
	for ok {
		switch kind := word(); kind {
		case auxNull:
			return
		case auxVDSO:
			binary.NativeEndian.PutUint64(raw[:], auxIgnore)
			_ = poke(tid, at-8, raw[:])
			return
		}
		at += 8
	}
}
