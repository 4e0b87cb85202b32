//go:build conformance

package conformance

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/mcpaudit/mcpaudit/test/poll"
)

// attacks lists what the suite itself does to the tracer, as a fault or a server
// that got past all barriers would. Programs call themselves by the attack (as
// their comm) when it is time.
var attacks = map[string]syscall.Signal{"now-kill": syscall.SIGKILL, "now-stop": syscall.SIGSTOP}

// attack waits for a process of that name and sends the signal to its tracer.
func attack(ctx context.Context, name string) {
	poll.For(poll.Patience, func() bool {
		for _, tracer := range tracersOf(name) {
			if tracer > 0 && syscall.Kill(tracer, attacks[name]) == nil {
				return true
			}
		}
		return ctx.Err() != nil
	})
}

// tracersOf are the tracers of the processes with a name, 0 for those that have
// none (proc_pid_status(5), TracerPid).
func tracersOf(name string) []int {
	var tracers []int
	comms, _ := filepath.Glob("/proc/[0-9]*/comm") // the pattern is good
	for _, file := range comms {
		comm, err := os.ReadFile(file)
		if err != nil || string(bytes.TrimSpace(comm)) != name {
			continue
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(file), "status"))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(status), "\nTracerPid:\t")
		line, _, _ := strings.Cut(rest, "\n")
		if pid, err := strconv.Atoi(line); err == nil {
			tracers = append(tracers, pid)
		}
	}
	return tracers
}

// outlives reports whether a process of that name is still there when it has had
// time to die.
func outlives(name string) bool {
	return !poll.For(poll.Patience, func() bool { return len(tracersOf(name)) == 0 })
}
