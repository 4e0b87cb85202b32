package ptrace

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// uptimeFile says for how many seconds the machine is up, and was idle (proc_uptime(5)). Node reads
// it in place of asking for the time.
const uptimeFile = "/proc/uptime"

// readsUptime reports whether a call reads it.
func (t *tracer) readsUptime(k *task, c *syscalls.Call) bool {
	return (c.Name == "read" || c.Name == "pread64") &&
		string(t.printer.names.descriptor(k, int(int32(k.arguments[0])))) == uptimeFile //nolint:gosec // as the kernel takes it
}

// retell has a call that has read all of the file say what the clock shows.
func (t *tracer) retell(k *task) {
	var now unix.Timespec
	if t.info.read(k.pid) != 0 || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return // a task that is gone tells by its end
	}
	n, failed := t.info.result()
	if failed || n <= 0 || n > 64 {
		return
	}
	said := make([]byte, n)
	if peek(k.pid, k.arguments[1], said) < len(said) {
		return
	}
	up, idle, ok := bytes.Cut(said, []byte(" "))
	seconds, err := strconv.ParseFloat(string(up), 64)
	if !ok || err != nil {
		return
	}
	seconds += time.Duration(t.clock.now(unix.CLOCK_BOOTTIME) - now.Nano()).Seconds()
	says := fmt.Appendf(nil, "%.2f %s", seconds, idle)
	if uint64(len(says)) <= k.arguments[2] && poke(k.pid, k.arguments[1], says) {
		setResult(k.pid, int64(len(says)))
	}
}
