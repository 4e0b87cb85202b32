package ptrace

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// stamped are the calls whose results hold times that the kernel stamped, or show a tracer or a sandbox. The results
// are changed when the call returns.
var stamped = []timed{
	{Call: syscalls.Call{Name: "stat", AMD64: 4, ARM64: -1}, answers: stamps(1, fileTimes)},
	{Call: syscalls.Call{Name: "fstat", AMD64: 5, ARM64: 80}, answers: stamps(1, fileTimes)},
	{Call: syscalls.Call{Name: "lstat", AMD64: 6, ARM64: -1}, answers: stamps(1, fileTimes)},
	{Call: syscalls.Call{Name: "newfstatat", AMD64: 262, ARM64: 79}, answers: stamps(2, fileTimes)},
	{Call: syscalls.Call{Name: "statx", AMD64: 332, ARM64: 291}, answers: stamps(4, extendedTimes)},
	{Call: syscalls.Call{Name: "shmctl", AMD64: 31, ARM64: 195}, answers: tellShared(2, 56, 64, 72)},
	{Call: syscalls.Call{Name: "msgctl", AMD64: 71, ARM64: 187}, answers: tellShared(2, 48, 56, 64)},
	{Call: syscalls.Call{Name: "semctl", AMD64: 66, ARM64: 191}, answers: tellShared(3, 48, 56, 64)},
	{Call: syscalls.Call{Name: "recvmsg", AMD64: 47, ARM64: 212}, answers: tellArrival},
	{Call: syscalls.Call{Name: "getsockopt", AMD64: 55, ARM64: 209}, answers: tellIdle},
	{Call: syscalls.Call{Name: "getrusage", AMD64: 98, ARM64: 165}, answers: tellSwitches},
	{Call: syscalls.Call{Name: "sched_getaffinity", AMD64: 204, ARM64: 123}, answers: tellProcessors},
	{Call: syscalls.Call{Name: "statfs", AMD64: 137, ARM64: 43}, answers: tellDisk},
	{Call: syscalls.Call{Name: "fstatfs", AMD64: 138, ARM64: 44}, answers: tellDisk},
}

// answers returns the change to make to the result at the exit of a call that a task enters; nil for none.
type answers func(t *tracer, k *task, of *timed) func()

// stamp is a time in a struct: the offsets of its seconds, and of its nanoseconds or microseconds, -1 for none.
type stamp struct {
	seconds, fraction int
	scale             int64
	// narrow: the fraction has 32 bits.
	narrow bool
}

var (
	// struct stat(2) has its times at the same offsets on both architectures.
	fileTimes = []stamp{{72, 80, 1, false}, {88, 96, 1, false}, {104, 112, 1, false}}
	// struct statx(2).
	extendedTimes = []stamp{{64, 72, 1, true}, {80, 88, 1, true}, {96, 104, 1, true}, {112, 120, 1, true}}
)

// stamps changes times in the struct that an argument has the address of.
func stamps(argument int, all []stamp) answers {
	return func(t *tracer, k *task, _ *timed) func() {
		return func() {
			if t.returned(k) >= 0 {
				t.clock.restamp(k, k.arguments[argument], all)
			}
		}
	}
}

// restamp changes those times in the memory of a task that are later than the server's start.
func (c *clock) restamp(k *task, address uint64, all []stamp) {
	last := all[len(all)-1]
	raw := make([]byte, max(last.seconds, last.fraction)+8)
	if address == 0 || peek(k.pid, address, raw) < len(raw) {
		return
	}
	changed := false
	for _, at := range all {
		changed = c.restampOne(raw, at) || changed
	}
	if changed {
		_ = poke(k.pid, address, raw) // a task that is gone tells by its end
	}
}

// restampOne changes a time in raw, and reports whether it did. A time that a program has set is later than the
// true time where the clock is ahead, and stays.
func (c *clock) restampOne(raw []byte, at stamp) bool {
	ns := int64(binary.NativeEndian.Uint64(raw[at.seconds:])) * int64(time.Second) //nolint:gosec // as the kernel means it
	switch {
	case at.fraction < 0:
		ns += int64(time.Second) - 1 // cut off
	case at.narrow:
		ns += int64(binary.NativeEndian.Uint32(raw[at.fraction:])) * at.scale
	default:
		ns += int64(binary.NativeEndian.Uint64(raw[at.fraction:])) * at.scale //nolint:gosec // less than a second
	}
	elapsed := ns - c.start[unix.CLOCK_REALTIME]
	if ns < c.stamps || elapsed > c.since(unix.CLOCK_REALTIME)+int64(time.Second) {
		return false
	}
	shown := c.shown(unix.CLOCK_REALTIME, c.told(max(0, elapsed)))
	binary.NativeEndian.PutUint64(raw[at.seconds:], uint64(shown/int64(time.Second))) //nolint:gosec // not negative
	fraction := shown % int64(time.Second) / max(at.scale, 1)
	switch {
	case at.fraction < 0:
	case at.narrow:
		binary.NativeEndian.PutUint32(raw[at.fraction:], uint32(fraction)) //nolint:gosec // less than a second
	default:
		binary.NativeEndian.PutUint64(raw[at.fraction:], uint64(fraction)) //nolint:gosec // less than a second
	}
	return true
}

// tellShared changes the times, in seconds, of System V IPC objects (shmctl(2), IPC_STAT).
func tellShared(argument int, at ...int) answers {
	var all []stamp
	for _, seconds := range at {
		all = append(all, stamp{seconds: seconds, fraction: -1})
	}
	return func(t *tracer, k *task, of *timed) func() {
		const status, any = 2, 0xff // IPC_STAT; glibc adds IPC_64 to it
		if k.arguments[argument-1]&any != status {
			return nil
		}
		return stamps(argument, all)(t, k, of)
	}
}

// arrivals are the control messages with the time of an arrival (socket(7), SO_TIMESTAMP and its kin): how many times
// they have, and the unit of the fraction in nanoseconds.
var arrivals = map[uint32]struct {
	count int
	scale int64
}{
	unix.SO_TIMESTAMP: {1, 1000}, unix.SO_TIMESTAMPNS: {1, 1}, unix.SO_TIMESTAMPING: {3, 1},
	unix.SO_TIMESTAMP_NEW: {1, 1000}, unix.SO_TIMESTAMPNS_NEW: {1, 1}, unix.SO_TIMESTAMPING_NEW: {3, 1},
}

// tellArrival changes the times of arrival in the control messages of recvmsg(2).
func tellArrival(t *tracer, k *task, _ *timed) func() {
	return func() {
		var head [headerSize]byte
		if t.returned(k) < 0 || peek(k.pid, k.arguments[1], head[:]) < len(head) {
			return
		}
		at, size := binary.NativeEndian.Uint64(head[32:]), binary.NativeEndian.Uint64(head[40:])
		if at == 0 || size < unix.SizeofCmsghdr || size > maxRewritten {
			return
		}
		raw := make([]byte, size)
		if peek(k.pid, at, raw) < len(raw) {
			return
		}
		if t.clock.restampMessages(raw) {
			_ = poke(k.pid, at, raw) // a task that is gone tells by its end
		}
	}
}

func (c *clock) restampMessages(raw []byte) (changed bool) {
	for len(raw) >= unix.SizeofCmsghdr {
		length := binary.NativeEndian.Uint64(raw)
		if length < unix.SizeofCmsghdr || length > uint64(len(raw)) {
			return changed
		}
		kind := arrivals[binary.NativeEndian.Uint32(raw[12:])]
		if binary.NativeEndian.Uint32(raw[8:]) == unix.SOL_SOCKET && length >= uint64(unix.SizeofCmsghdr+16*kind.count) { //nolint:gosec // a few
			for i := range kind.count {
				at := unix.SizeofCmsghdr + 16*i
				changed = c.restampOne(raw, stamp{seconds: at, fraction: at + 8, scale: kind.scale}) || changed
			}
		}
		raw = raw[min((length+7)&^7, uint64(len(raw))):]
	}
	return changed
}

// idleTimes are the offsets in struct tcp_info of the milliseconds since data or an acknowledgement was last sent or
// received (tcp(7)).
var idleTimes = []int{44, 48, 52, 56}

// tellIdle changes how long a connection has been idle.
func tellIdle(t *tracer, k *task, _ *timed) func() {
	if k.arguments[1] != unix.IPPROTO_TCP || k.arguments[2] != unix.TCP_INFO {
		return nil
	}
	return func() {
		var size [4]byte
		if t.returned(k) < 0 || peek(k.pid, k.arguments[4], size[:]) < len(size) || binary.NativeEndian.Uint32(size[:]) < 60 {
			return
		}
		var raw [60]byte
		if peek(k.pid, k.arguments[3], raw[:]) < len(raw) {
			return
		}
		now := t.clock.since(unix.CLOCK_MONOTONIC)
		for _, at := range idleTimes {
			idle := int64(binary.NativeEndian.Uint32(raw[at:])) * int64(time.Millisecond)
			shown := (t.clock.seen(now) - t.clock.seen(max(0, now-idle))) / int64(time.Millisecond)
			binary.NativeEndian.PutUint32(raw[at:], uint32(shown)) //nolint:gosec // some weeks at most
		}
		_ = poke(k.pid, k.arguments[3], raw[:]) // a task that is gone tells by its end
	}
}

// switchesAt is the offset in struct rusage of the voluntary context switches (getrusage(2), ru_nvcsw).
const switchesAt = 128

// tellSwitches subtracts the tracer's own stops from the context switches.
func tellSwitches(t *tracer, k *task, _ *timed) func() {
	who := int32(k.arguments[0]) //nolint:gosec // an int of the kernel's
	if who != unix.RUSAGE_SELF && who != unix.RUSAGE_THREAD {
		return nil
	}
	return func() {
		var raw [8]byte
		if t.returned(k) < 0 || peek(k.pid, k.arguments[1]+switchesAt, raw[:]) < len(raw) {
			return
		}
		ours := k.stops
		if who == unix.RUSAGE_SELF {
			ours = t.stopsOf(k.processID())
		}
		count := max(0, int64(binary.NativeEndian.Uint64(raw[:]))-ours) //nolint:gosec // a count
		binary.NativeEndian.PutUint64(raw[:], uint64(count))            //nolint:gosec // not negative
		_ = poke(k.pid, k.arguments[1]+switchesAt, raw[:])              // a task that is gone tells by its end
	}
}

// stopsOf returns how often the living threads of a process were stopped.
func (t *tracer) stopsOf(process int) (all int64) {
	for _, k := range t.tasks {
		if k.processID() == process {
			all += k.stops
		}
	}
	return all
}
