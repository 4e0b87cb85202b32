package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

// TestLossOfTheTracer: without it the server must not go on, and what was seen
// of it counts as a part.
func TestLossOfTheTracer(t *testing.T) {
	for _, tracer := range []plan.Tracer{plan.TracerStrace, plan.TracerPtrace} {
		for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
			t.Run(fmt.Sprint(tracer, " ", signal), func(t *testing.T) { lose(t, tracer, signal) })
		}
	}
}

func lose(t *testing.T, tracer plan.Tracer, signal syscall.Signal) {
	ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
	defer cancel()
	dir := t.TempDir()
	launcher, err := sandbox.New([]string{"sleep", "1000"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = launcher.Close() }) // what it held goes with us in any case
	launcher.Tracer = tracer
	process, err := launcher.Launch(ctx, audit.Start{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	begun := make(chan struct{}, 1024)
	go func() {
		done <- process.Trace().Run(ctx, func(trace.Event) {
			select {
			case begun <- struct{}{}:
			default:
			}
		})
	}()
	select {
	case <-begun:
	case <-ctx.Done():
		t.Fatal("nothing of the server is seen")
	}
	if err := syscall.Kill(tracerOf(t, filepath.Join(dir, "trace.txt")), signal); err != nil {
		t.Fatal(err)
	}
	select {
	case <-process.Trace().Lost():
	case <-ctx.Done():
		t.Error("nobody noticed that the tracer is lost")
	}
	select {
	case <-process.Exited():
	case <-ctx.Done():
		t.Error("the server lives on")
	}
	process.Stop(ctx)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// tracerOf is the process that was started to write a trace.
func tracerOf(t *testing.T, file string) int {
	t.Helper()
	tracer := 0
	poll.Until(t, "there is a tracer", func() bool {
		commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, path := range commands {
			command, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(command, []byte("\x00"+file+"\x00")) {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				tracer = pid
			}
		}
		return tracer > 0
	})
	return tracer
}

// TestOwnProcessesMaySignalEachOther: a server's pids are not the tracer's, and
// it is no evasion when it ends what it has started.
func TestOwnProcessesMaySignalEachOther(t *testing.T) {
	for _, tracer := range []plan.Tracer{plan.TracerStrace, plan.TracerPtrace} {
		t.Run(string(tracer), func(t *testing.T) {
			o := runUnder(t, tracer, report.NetworkDeny, "sh", "-c", "sleep 100 & kill $!; wait; kill -TERM 1; kill -KILL $$")
			var evaded []string
			for _, e := range o.events {
				if e.Op == trace.OpEvade {
					evaded = append(evaded, e.Detail)
				}
			}
			// Only the first process of its namespace is not the server's.
			if len(evaded) != 1 || !strings.HasPrefix(evaded[0], "kill(1") {
				t.Errorf("evasions: %q", evaded)
			}
		})
	}
}
