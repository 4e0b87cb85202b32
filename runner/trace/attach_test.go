package trace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

// TestAttachAgain: a tracer that has missed a thread is replaced, and its messages when it
// detaches are not taken for a refusal.
func TestAttachAgain(t *testing.T) {
	sleeps := exec.Command("sleep", "1000")
	if err := sleeps.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = sleeps.Process.Kill(), sleeps.Wait() })
	cfg := Config{File: filepath.Join(t.TempDir(), "trace")}
	ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
	defer cancel()
	never := seizure{time.Millisecond, func(int, int) (bool, error) { return false, nil }}
	if _, err := attach(ctx, sleeps.Process.Pid, cfg, never); !errors.Is(err, errUnseized) || errors.Is(err, ErrUnavailable) {
		t.Errorf("never: %v", err)
	}
	var tracers []int
	s, err := attach(ctx, sleeps.Process.Pid, cfg, seizure{time.Millisecond, func(pid, tracer int) (bool, error) {
		if len(tracers) == 0 || tracers[len(tracers)-1] != tracer {
			tracers = append(tracers, tracer)
		}
		for len(tracers) > 1 && ctx.Err() == nil {
			if all, err := seized(pid, tracer); all || err != nil {
				return all, err
			}
		}
		return false, nil
	}})
	if err != nil || len(tracers) != 2 {
		t.Fatalf("%v, by %d tracers", err, len(tracers))
	}
	s.Stop()
}

// executed attaches to a shell, and has it execute a program, whose stdin it returns.
func executed(t *testing.T, name string) (*Session, *exec.Cmd, io.Closer) {
	t.Helper()
	starts := exec.Command("/bin/sh", "-c", `read -r go; exec "$0"`, name)
	stdin, err := starts.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := starts.Start(); err != nil {
		t.Fatal(err)
	}
	s, err := Attach(t.Context(), starts.Process.Pid, Config{Backend: plan.TracerStrace, File: filepath.Join(t.TempDir(), "trace")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(stdin, "go\n"); err != nil {
		t.Error(err)
	}
	return s, starts, stdin
}

// TestAttachToASlowTracer: strace seizes a thread before it stops it, and on a busy machine much
// can happen in between. Here another strace extends that time.
func TestAttachToASlowTracer(t *testing.T) {
	real, err := exec.LookPath(program)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// -D: the slowed strace is our own child.
	slow := fmt.Sprintf("#!/bin/sh\nexec %[1]s -D -o /dev/null -e trace=ptrace -e inject=ptrace:delay_exit=30000 %[1]s \"$@\"\n", real)
	if err := os.WriteFile(filepath.Join(dir, program), []byte(slow), 0o700); err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	s, starts, _ := executed(t, "/bin/true")
	if err := starts.Wait(); err != nil {
		t.Error(err)
	}
	if err := s.Run(t.Context(), func(Event) {}); err != nil || !s.Stats().Begun {
		t.Errorf("%v: the start of the program is not in the trace (%+v)", err, s.Stats())
	}
}

// TestW5ProgramBehindALink: the trace has the name that a program was executed by, and not where its link leads, nor
// the interpreter of a script.
func TestW5ProgramBehindALink(t *testing.T) {
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	link, script := filepath.Join(dir, "link"), filepath.Join(dir, "script")
	if err := errors.Join(os.Symlink(shell, link), os.WriteFile(script, []byte("#!"+link+"\nread -r end\n"), 0o700)); err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
	s, starts, stdin := executed(t, script)
	var running []string
	if err := s.Run(t.Context(), func(e Event) {
		if e.Op == OpExec {
			running = append(running, e.Running)
			_ = stdin.Close() // the script ends
		}
	}); err != nil {
		t.Error(err)
	}
	if err := starts.Wait(); err != nil && starts.ProcessState.ExitCode() != 1 { // read found the end
		t.Error(err)
	}
	if !slices.Equal(running, []string{shell}) {
		t.Errorf("programs that ran: %q, want %q", running, shell)
	}
}
