package trace_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

func init() { runtime.LockOSThread() }

// gateArg makes the test binary a stand-in for the shim: it waits on descriptor
// 3, then becomes the shell that runs the following script, with our own tracer's
// filter.
const gateArg = "wait-at-the-gate"

// churnArg makes it a program whose threads come and go until descriptor 3 ends.
const churnArg = "make-threads"

func TestMain(m *testing.M) {
	if code, ok := ptrace.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	if len(os.Args) == 2 && os.Args[1] == churnArg {
		churn()
	}
	if len(os.Args) == 3 && os.Args[1] == gateArg {
		fmt.Fprintln(os.Stderr, becomeShell(os.Args[2]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func churn() {
	for range 8 {
		go func() {
			for {
				ended := make(chan struct{})
				go func() {
					runtime.LockOSThread() // never unlocked: the thread ends, too
					close(ended)
				}()
				<-ended
			}
		}()
	}
	_, _ = os.NewFile(3, "gate").Read(make([]byte, 1))
	os.Exit(0)
}

func becomeShell(script string) error {
	if _, err := os.NewFile(3, "gate").Read(make([]byte, 1)); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := ptrace.Install(ptrace.AtCalls); err != nil {
		return err
	}
	return syscall.Exec("/bin/sh", []string{"/bin/sh", "-c", script}, os.Environ())
}

// each runs a test with both backends.
func each(t *testing.T, test func(t *testing.T, b plan.Tracer)) {
	t.Helper()
	for _, b := range []plan.Tracer{plan.TracerStrace, plan.TracerPtrace} {
		t.Run(string(b), func(t *testing.T) { test(t, b) })
	}
}

// script is a server that reads, in a child, the file that each line of stdin
// names.
const script = `while read -r name; do cat "$name" 2>/dev/null; echo done; done; : </etc/hostname`

// target is a program with its standard streams as pipes.
type target struct {
	cmd    *exec.Cmd
	stdin  *os.File
	answer *bufio.Reader
	cfg    trace.Config
}

// prepare makes the pipes; the caller starts the command.
func prepare(t *testing.T, b plan.Tracer, argv ...string) *target {
	t.Helper()
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inRead, outWrite, os.Stderr
	t.Cleanup(func() { _, _, _, _ = inRead.Close(), inWrite.Close(), outRead.Close(), outWrite.Close() })
	return &target{cmd: cmd, stdin: inWrite, answer: bufio.NewReader(outRead), cfg: trace.Config{
		Backend: b, File: filepath.Join(t.TempDir(), "trace"), Stdin: inodeOf(t, inRead), Stdout: inodeOf(t, outWrite)}}
}

func inodeOf(t *testing.T, f *os.File) uint64 {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Ino
}

// ask sends one line and waits for the answer.
func (p *target) ask(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
		t.Fatal(err)
	}
	for {
		got, err := p.answer.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if got == "done\n" {
			return
		}
	}
}

// run collects the events of a session in the background.
func run(t *testing.T, s *trace.Session) (wait func() []trace.Event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
	var events []trace.Event
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, func(e trace.Event) { events = append(events, e) }) }()
	return func() []trace.Event {
		defer cancel()
		if err := <-done; err != nil {
			t.Fatalf("Run: %v", err)
		}
		return events
	}
}

// converse has the conversation and returns how many bytes were asked.
func (p *target) converse(t *testing.T, secret string) (asked int64) {
	t.Helper()
	p.ask(t, "/nonexistent")
	p.ask(t, secret)
	if err := p.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	return int64(len("/nonexistent\n") + len(secret) + 1)
}

// check looks for the traces of the conversation.
func check(t *testing.T, s *trace.Session, events []trace.Event, secret string, asked int64) {
	t.Helper()
	stats := s.Stats()
	if stats.Unparsed != 0 || stats.Dropped != 0 || stats.Cut != 0 || stats.Blinded != 0 || stats.Alive != 0 || !stats.Begun {
		t.Errorf("stats = %+v", stats)
	}
	select {
	case <-s.Lost():
		t.Error("the trace was lost")
	default:
	}
	if len(events) == 0 || events[0].Op != trace.OpExec || !events[0].Main {
		t.Fatalf("the trace does not begin with the server's own execve: %+v", events)
	}
	first := int64(len("/nonexistent\n"))
	answer := int64(len("done\n"))
	want := map[string]func(trace.Event) bool{
		"the attempt, in a child, during the first request": func(e trace.Event) bool {
			return e.Op == trace.OpRead && e.Path == "/nonexistent" && e.Errno == "ENOENT" && !e.Main &&
				e.At == trace.Position{In: first}
		},
		"the read, in a child, during the second": func(e trace.Event) bool {
			return e.Op == trace.OpRead && e.Path == secret && e.Errno == "" && !e.Main &&
				e.At == trace.Position{In: asked, Out: answer}
		},
		"the program that read it": func(e trace.Event) bool {
			return e.Op == trace.OpExec && filepath.Base(e.Path) == "cat" && e.Errno == "" && len(e.Argv) == 2 && e.Argv[1] == secret
		},
		"the read after the end of stdin": func(e trace.Event) bool {
			return e.Path == "/etc/hostname" && e.Main && e.At.EOF
		},
	}
	for what, is := range want {
		found := false
		for _, e := range events {
			found = found || is(e)
		}
		if !found {
			t.Errorf("not in the trace: %s", what)
		}
	}
	if t.Failed() {
		for _, e := range events {
			t.Logf("%+v", e)
		}
	}
}

func secretFile(t *testing.T) string {
	t.Helper()
	// A name that would forge a line, were it not escaped.
	name := filepath.Join(t.TempDir(), `id", O_RDONLY) = 3<x> <0.000001>`)
	if err := os.WriteFile(name, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestWrap(t *testing.T) { each(t, testWrap) }

func testWrap(t *testing.T, b plan.Tracer) {
	p := prepare(t, b, "placeholder")
	argv := trace.Wrap(p.cfg, []string{"/bin/sh", "-c", script})
	var err error
	if p.cmd.Path, err = exec.LookPath(argv[0]); err != nil {
		t.Fatal(err)
	}
	p.cmd.Args, p.cmd.Err = argv, nil
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s, err := trace.Follow(p.cfg)
	if err != nil {
		t.Fatal(err)
	}
	wait := run(t, s)
	secret := secretFile(t)
	asked := p.converse(t, secret)
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	s.Ended()
	check(t, s, wait(), secret, asked)
}

// waiting is a stand-in for the shim: it becomes the server when it is told to.
const waiting = `read -r go <&3; exec /bin/sh -c "$0"`

// waiter is a process that becomes the server when it is told to.
func waiter(t *testing.T, b plan.Tracer) *target {
	t.Helper()
	if b == plan.TracerPtrace {
		return prepare(t, b, "/proc/self/exe", gateArg, script)
	}
	return prepare(t, b, "/bin/sh", "-c", waiting, script)
}

// attach starts a server that waits, and attaches to it.
func attach(t *testing.T, p *target) (s *trace.Session, release func()) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.ExtraFiles = []*os.File{r}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _, _ = r.Close(), w.Close(), p.cmd.Process.Kill() })
	ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
	defer cancel()
	s, err = trace.Attach(ctx, p.cmd.Process.Pid, p.cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s, func() { _, _ = io.WriteString(w, "go\n") }
}

func TestAttach(t *testing.T) { each(t, testAttach) }

func testAttach(t *testing.T, b plan.Tracer) {
	p := waiter(t, b)
	s, release := attach(t, p)
	wait := run(t, s)
	release()
	secret := secretFile(t)
	asked := p.converse(t, secret)
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	events := wait()
	check(t, s, events, secret, asked)
	for _, e := range events {
		if strings.Contains(e.Detail, "<&3") {
			t.Errorf("the shim's own call is in the trace: %+v", e)
		}
	}
}

// TestAttachToThreadsThatComeAndGo: a thread that was being made when its maker was seized is traced too, and one
// that has just ended is no obstacle.
func TestAttachToThreadsThatComeAndGo(t *testing.T) {
	for range 4 {
		p := prepare(t, plan.TracerPtrace, "/proc/self/exe", churnArg)
		s, release := attach(t, p)
		wait := run(t, s)
		release()
		if err := p.cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		wait()
	}
}

// TestAttachToWhatHasEnded: the kernel's error is the same as for a process that we may not trace.
func TestAttachToWhatHasEnded(t *testing.T) {
	p := prepare(t, plan.TracerPtrace, "/bin/true")
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// It is not reaped before, so its pid stays.
	if err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	_, err := trace.Attach(t.Context(), p.cmd.Process.Pid, p.cfg)
	if err == nil || !strings.Contains(err.Error(), "it has ended") || strings.Contains(err.Error(), "CAP_SYS_PTRACE") {
		t.Errorf("%v", err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestVersion(t *testing.T) {
	version, err := trace.Version(t.Context())
	if err != nil || !strings.Contains(version, ".") {
		t.Errorf("Version = %q, %v", version, err)
	}
	// An audit that has run out of time has a tracer all the same.
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, err := trace.Version(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, trace.ErrUnavailable) {
		t.Errorf("after the deadline: %v", err)
	}
}
