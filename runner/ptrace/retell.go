package ptrace

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// A telling makes what a file says to a task of what it says; nil where it is to stay as it is.
type telling func(c *clock, k *task, said []byte) []byte

// tellings are those of the files of /proc and /sys, by their last names (proc(5)). Those of processes are asked of
// the process that reads, as a rule.
var tellings = map[string]telling{
	// Node reads for how long the machine is up in place of asking for the time.
	"uptime":    uptime,
	"stat":      moreTimes,
	"cpuinfo":   moreProcessors,
	"meminfo":   moreMemory,
	"online":    allProcessors,
	"possible":  allProcessors,
	"present":   allProcessors,
	"status":    unconfined,
	"mounts":    installed,
	"mountinfo": installed,
}

// toldFile matches the files whose content the tracer replaces.
var toldFile = lazyregexp.New(`^/proc/(?:uptime|stat|cpuinfo|meminfo|\d+/(?:task/\d+/)?(?:status|mounts|mountinfo))$|^/sys/devices/system/cpu/(?:online|possible|present)$`)

// reading names an open file whose content the tracer replaces.
type reading struct{ process, fd int }

// told holds the content that a server gets, and how much of it was read.
type told struct {
	text []byte
	at   int
}

const (
	// maxTold is the most bytes of a rewritten file, maxReadings the most files.
	maxTold     = 256 << 10
	maxReadings = 1024
)

// telling returns what to write over what a call reads, for the exit of the call; nil if that is read as it is.
func (t *tracer) telling(k *task, c *syscalls.Call) *wait {
	if c.Name != "read" && c.Name != "pread64" {
		return nil
	}
	fd := int(int32(k.arguments[0])) //nolint:gosec // as the kernel takes it
	file := string(t.printer.names.descriptor(k, fd))
	if !toldFile.MatchString(file) {
		return nil
	}
	which := reading{k.processID(), fd}
	state := t.told[which]
	if state == nil || position(k.pid, fd) == 0 {
		said := contentOf(k.pid, fd)
		if len(said) == 0 {
			return nil
		}
		text := tellings[filepath.Base(file)](&t.clock, k, said)
		if text == nil {
			return nil
		}
		if len(t.told) >= maxReadings {
			clear(t.told)
		}
		state = &told{text: text}
		t.told[which] = state
	}
	at := state.at
	if c.Name == "pread64" {
		at = int(min(k.arguments[3], uint64(len(state.text)))) //nolint:gosec // the lesser
	}
	rest := state.text[at:]
	rest = rest[:min(uint64(len(rest)), k.arguments[2])]
	return &wait{answer: func() {
		if t.returned(k) < 0 || !poke(k.pid, k.arguments[1], rest) {
			return
		}
		setResult(k.pid, int64(len(rest)))
		if c.Name == "read" {
			state.at += len(rest)
		}
	}}
}

// contentOf reads a file that a task has open, from its beginning.
func contentOf(tid, fd int) []byte {
	// Another thread can have put a pipe in its place meanwhile, which nobody may wait for.
	file, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/%d", tid, fd), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // read only
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	content, err := io.ReadAll(io.LimitReader(file, maxTold))
	if err != nil || len(content) == maxTold {
		return nil
	}
	return content
}

// position is where in an open file a task reads on; -1 where that is not known.
func position(tid, fd int) int64 {
	info, err := os.ReadFile(fmt.Sprintf("/proc/%d/fdinfo/%d", tid, fd))
	if err != nil {
		return -1
	}
	line, _, _ := strings.Cut(strings.TrimPrefix(string(info), "pos:"), "\n")
	at, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		return -1
	}
	return at
}

// returned is the result of the call that a task returns from; less than 0 for a failure.
func (t *tracer) returned(k *task) int64 {
	if t.info.read(k.pid) != 0 {
		return -1 // a task that is gone tells by its end
	}
	value, failed := t.info.result()
	if failed {
		return -1
	}
	return value
}

// uptime rewrites for how many seconds the machine is up, and was idle, by the clock.
func uptime(c *clock, _ *task, said []byte) []byte {
	var now unix.Timespec
	up, idle, ok := bytes.Cut(said, []byte(" "))
	seconds, err := strconv.ParseFloat(string(up), 64)
	if !ok || err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return nil
	}
	seconds += time.Duration(c.now(unix.CLOCK_BOOTTIME) - now.Nano()).Seconds()
	return fmt.Appendf(nil, "%.2f %s", seconds, idle)
}

var booted = lazyregexp.New(`(?m)^btime \d+$`)

// bootTime rewrites the date since which the machine is up: with that, the date can be told by for how long it is.
func bootTime(c *clock, _ *task, said []byte) []byte {
	return renumber(booted, said, func(at int64) int64 { return at + int64((c.Forward-up)/time.Second) })
}

// renumber changes the number that ends the lines which match.
func renumber(lines *lazyregexp.Regexp, said []byte, change func(int64) int64) []byte {
	return []byte(lines.ReplaceAllStringFunc(string(said), func(line string) string {
		at := strings.LastIndexAny(line, " \t") + 1
		n, err := strconv.ParseInt(line[at:], 10, 64)
		if err != nil {
			return line
		}
		return line[:at] + strconv.FormatInt(change(n), 10)
	}))
}

var (
	// confinements are the lines of a status that a sandbox, container or tracer changes.
	confinements = lazyregexp.New(`(?m)^((?:NoNewPrivs|Seccomp|Seccomp_filters|TracerPid):\t)\d+$`)
	boundingSet  = lazyregexp.New(`(?m)^(CapBnd:\t)[0-9a-f]{16}$`)
	switches     = lazyregexp.New(`(?m)^voluntary_ctxt_switches:\t\d+$`)
)

// unconfined rewrites /proc/PID/status to look like an untraced process started at a terminal.
func unconfined(_ *clock, k *task, said []byte) []byte {
	said = boundingSet.ReplaceAll(confinements.ReplaceAll(said, []byte("${1}0")), []byte("${1}000001ffffffffff"))
	return renumber(switches, said, func(count int64) int64 { return max(0, count-k.stops) })
}
