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

// A rewriter returns what a task reads in place of the text of a file; nil for the text as it is.
type rewriter func(c *clock, k *task, said []byte) []byte

// rewriters has those of the files of /proc and /sys by their base names (proc(5)). A file of a process is most
// often read by that process.
var rewriters = map[string]rewriter{
	// Node reads the uptime and asks no clock.
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
	"loginuid":  loggedIn,
	"sessionid": loggedIn,
	"cgroup":    inSession,
	"cmdline":   booting,
	"dev":       received,
}

// rewrittenFile matches the files whose content the tracer replaces.
var rewrittenFile = lazyregexp.New(`^/proc/(?:uptime|stat|cpuinfo|meminfo|cmdline|\d+/(?:task/\d+/)?(?:status|mounts|mountinfo|loginuid|sessionid|cgroup|net/dev))$|^/sys/devices/system/cpu/(?:online|possible|present)$`)

// reading names an open file whose content the tracer replaces.
type reading struct{ process, fd int }

// rewritten holds the content that a server gets, and how much of it was read.
type rewritten struct {
	text []byte
	at   int
}

const (
	// maxRewritten bounds the size of a rewritten file in bytes, and maxReadings the number of files.
	maxRewritten = 256 << 10
	maxReadings  = 1024
)

// rewrite returns the change of what a call reads, to be made at the call's exit; nil for none.
func (t *tracer) rewrite(k *task, c *syscalls.Call) *wait {
	if c.Name != "read" && c.Name != "pread64" {
		return nil
	}
	fd := int(int32(k.arguments[0])) //nolint:gosec // as the kernel takes it
	file := string(t.printer.names.descriptor(k, fd))
	if !rewrittenFile.MatchString(file) {
		return nil
	}
	which := reading{k.processID(), fd}
	state := t.rewritten[which]
	if state == nil || position(k.pid, fd) == 0 {
		said := contentOf(k.pid, fd, file)
		if len(said) == 0 {
			return nil
		}
		text := rewriters[filepath.Base(file)](&t.clock, k, said)
		if text == nil {
			return nil
		}
		if len(t.rewritten) >= maxReadings {
			clear(t.rewritten)
		}
		state = &rewritten{text: text}
		t.rewritten[which] = state
	}
	at := min(state.at, len(state.text)) // two threads can have read at once
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

// contentOf reads the named file that a task has open, from its beginning; nil if the task has another one open by now.
// Another thread can put a file in its place that we may read and the server may not, so it is opened for reading only
// when a descriptor of our own shows its name.
func contentOf(tid, fd int, name string) []byte {
	place, err := unix.Open(fmt.Sprintf("/proc/%d/fd/%d", tid, fd), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(place) }() // opened for its name only
	ours := fmt.Sprintf("/proc/self/fd/%d", place)
	if opened, err := os.Readlink(ours); err != nil || opened != name {
		return nil
	}
	file, err := os.Open(ours)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }() // read only
	content, err := io.ReadAll(io.LimitReader(file, maxRewritten))
	if err != nil || len(content) == maxRewritten {
		return nil
	}
	return content
}

// position returns the offset at which a task reads on in an open file; -1 if it is not known.
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

// returned gives the result of the call that a task returns from; less than 0 for a failure.
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

// uptime rewrites the seconds since boot.
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

// bootTime rewrites the date of the boot: a program can add the uptime to it, and has the date.
func bootTime(c *clock, _ *task, said []byte) []byte {
	return renumber(booted, said, func(at int64) int64 { return at + int64((c.Forward-up)/time.Second) })
}

// renumber changes the last number of the matching lines.
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
	// confinements matches the lines of a status that give a sandbox, container or tracer away.
	confinements = lazyregexp.New(`(?m)^((?:NoNewPrivs|Seccomp|Seccomp_filters|TracerPid):\t)\d+$`)
	boundingSet  = lazyregexp.New(`(?m)^(CapBnd:\t)[0-9a-f]{16}$`)
	switches     = lazyregexp.New(`(?m)^voluntary_ctxt_switches:\t\d+$`)
)

// unconfined rewrites /proc/PID/status to look like an untraced process started at a terminal.
func unconfined(_ *clock, k *task, said []byte) []byte {
	said = boundingSet.ReplaceAll(confinements.ReplaceAll(said, []byte("${1}0")), []byte("${1}000001ffffffffff"))
	return renumber(switches, said, func(count int64) int64 { return max(0, count-k.stops) })
}
