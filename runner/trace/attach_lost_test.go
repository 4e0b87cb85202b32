package trace_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

func TestAttachTracerKilled(t *testing.T) {
	each(t, func(t *testing.T, b plan.Tracer) { loseTracer(t, b, syscall.SIGKILL) })
}

func TestAttachTracerHalted(t *testing.T) {
	each(t, func(t *testing.T, b plan.Tracer) { loseTracer(t, b, syscall.SIGSTOP) })
}

func loseTracer(t *testing.T, b plan.Tracer, signal syscall.Signal) {
	p := waiter(t, b)
	s, release := attach(t, p)
	wait := run(t, s)
	release()
	p.ask(t, "/nonexistent")
	if err := syscall.Kill(tracerOf(t, p.cmd.Process.Pid), signal); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Lost():
	case <-time.After(poll.Patience):
		t.Error("nobody noticed that the tracer is gone")
	}
	wait()
	if b == plan.TracerStrace {
		return // it detaches, and the shim then ends the server
	}
	if err := p.cmd.Wait(); err == nil || p.cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the server outlives its tracer: %v", err)
	}
}

func TestAttachStopped(t *testing.T) { each(t, testAttachStopped) }

func testAttachStopped(t *testing.T, b plan.Tracer) {
	p := waiter(t, b)
	s, release := attach(t, p)
	wait := run(t, s)
	release()
	p.ask(t, "/nonexistent")
	s.Stop()
	if events := wait(); len(events) == 0 {
		t.Error("no events")
	}
	select {
	case <-s.Lost():
		t.Error("a trace that was stopped counts as lost")
	default:
	}
	if b == plan.TracerStrace {
		p.ask(t, "/nonexistent") // the server lives on
	}
}

func tracerOf(t *testing.T, pid int) (tracer int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "TracerPid: %d", &tracer); err == nil {
			return tracer
		}
	}
	t.Fatal("no TracerPid")
	return 0
}

func TestAttachRefused(t *testing.T) {
	cfg := trace.Config{File: filepath.Join(t.TempDir(), "trace")}
	// A process has only one tracer.
	p := waiter(t, plan.TracerStrace)
	_, _ = attach(t, p)
	if _, err := trace.Attach(t.Context(), p.cmd.Process.Pid, cfg); !errors.Is(err, trace.ErrUnavailable) {
		t.Errorf("second tracer: %v, want ErrUnavailable", err)
	}
	if _, err := trace.Attach(t.Context(), 1<<22+1, cfg); err == nil {
		t.Error("attached to a process that cannot exist")
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := trace.Attach(t.Context(), os.Getpid(), cfg); !errors.Is(err, trace.ErrUnavailable) || !strings.Contains(err.Error(), "install strace") {
		t.Errorf("without strace: %v, want ErrUnavailable", err)
	}
	if _, err := trace.Version(t.Context()); !errors.Is(err, trace.ErrUnavailable) {
		t.Errorf("version without strace: %v, want ErrUnavailable", err)
	}
}
