package ptrace

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// uptimeFile says for how many seconds the machine is up, and was idle (proc_uptime(5)). Node reads
// it in place of asking for the time.
const uptimeFile = "/proc/uptime"

// statusFile says among else what a process may do (proc_pid_status(5)).
var statusFile = lazyregexp.New(`^/proc/\d+/(?:task/\d+/)?status$`)

// A telling makes what a file says to the server of what it says; nil where it is to stay as it is.
type telling func(said []byte) []byte

// telling returns how to rewrite the file that a call reads; nil if it is read as it is.
func (t *tracer) telling(k *task, c *syscalls.Call) telling {
	if c.Name != "read" && c.Name != "pread64" {
		return nil
	}
	switch file := string(t.printer.names.descriptor(k, int(int32(k.arguments[0])))); { //nolint:gosec // as the kernel takes it
	case file == uptimeFile:
		return t.clock.uptime
	case strings.HasSuffix(file, "/status") && statusFile.MatchString(file):
		return unconfined
	}
	return nil
}

// maxTold is the longest answer to one read, in bytes, that is rewritten.
const maxTold = 8 << 10

// retell has a call that has read a file say something else.
func (t *tracer) retell(k *task, as telling) {
	if t.info.read(k.pid) != 0 {
		return // a task that is gone tells by its end
	}
	n, failed := t.info.result()
	if failed || n <= 0 || n > maxTold {
		return
	}
	said := make([]byte, n)
	if peek(k.pid, k.arguments[1], said) < len(said) {
		return
	}
	says := as(said)
	if says != nil && uint64(len(says)) <= k.arguments[2] && poke(k.pid, k.arguments[1], says) {
		setResult(k.pid, int64(len(says)))
	}
}

// uptime rewrites the content of uptimeFile by the clock, if all of it was read.
func (c *clock) uptime(said []byte) []byte {
	var now unix.Timespec
	up, idle, ok := bytes.Cut(said, []byte(" "))
	seconds, err := strconv.ParseFloat(string(up), 64)
	if !ok || err != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return nil
	}
	seconds += time.Duration(c.now(unix.CLOCK_BOOTTIME) - now.Nano()).Seconds()
	return fmt.Appendf(nil, "%.2f %s", seconds, idle)
}

var (
	// confinements are the lines of statusFile that a sandbox, container or tracer changes.
	confinements = lazyregexp.New(`(?m)^((?:NoNewPrivs|Seccomp|Seccomp_filters|TracerPid):\t)\d+$`)
	boundingSet  = lazyregexp.New(`(?m)^(CapBnd:\t)[0-9a-f]{16}$`)
)

// unconfined rewrites the content of statusFile to that of a process started at a terminal, which nobody traces.
func unconfined(said []byte) []byte {
	return boundingSet.ReplaceAll(confinements.ReplaceAll(said, []byte("${1}0")), []byte("${1}000001ffffffffff"))
}
