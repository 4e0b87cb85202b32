package shim_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/shim"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

// The test binary plays the shim and its child when the environment says so.
const (
	roleVar   = "SHIM_TEST_ROLE"
	socketVar = "SHIM_TEST_SOCKET"
	childVar  = "SHIM_TEST_COMMAND"
	serverUID = 1234
)

func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	playServer()
	switch os.Getenv(roleVar) {
	case "shim":
		_ = os.Setenv(roleVar, "child")
		code, err := shim.Serve(context.Background(), os.Getenv(socketVar), "/proc/self/exe", nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	case "child":
		os.Exit(shim.Child(strings.Split(os.Getenv(childVar), "\n")))
	}
	os.Exit(m.Run())
}

// container has a shim that runs as another user, as in a Pod.
type container struct {
	*shim.Link
	cmd *exec.Cmd
}

func start(t *testing.T, command ...string) container {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
	defer cancel()
	dir, err := os.MkdirTemp("/tmp", "shim-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), roleVar+"=shim", socketVar+"="+socket, childVar+"="+strings.Join(command, "\n"), "TOLD=by the image")
	cmd.Stderr = os.Stderr
	asUser(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	link, err := shim.Accept(ctx, socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = link.Close()
		_ = cmd.Wait()
	})
	return container{link, cmd}
}

func (c container) run(t *testing.T, env ...string) *shim.Run {
	t.Helper()
	return c.started(t, shim.Setup{Env: env})
}

func (c container) started(t *testing.T, how shim.Setup) *shim.Run {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
	defer cancel()
	run, err := c.Setup(ctx, how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	if run.PID <= 0 || run.StdinInode == 0 || run.StdoutInode == 0 {
		t.Fatalf("run has pid %d, inodes %d and %d", run.PID, run.StdinInode, run.StdoutInode)
	}
	if err := c.Go(ctx, ptrace.AtNone); err != nil {
		t.Fatal(err)
	}
	return run
}

// TestAD2HomeOfTheImage: the server gets the audit's home, with the code of the image's.
func TestAD2HomeOfTheImage(t *testing.T) {
	image, home := t.TempDir(), t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(image, ".profile"), []byte("echo profile"), 0o644),
		os.Chmod(filepath.Dir(image), 0o755), os.Chmod(image, 0o755), os.Chmod(home, 0o777)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", image)
	c := start(t, "sh", "-c", `. "$HOME/.profile"; echo "$HOME"`)
	run := c.started(t, shim.Setup{Home: home})
	if got, want := readAll(t, run.Stdout), "profile\n"+home+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAD3Limits: the machine's handler of core dumps is never started for a server.
func TestAD3Limits(t *testing.T) {
	run := start(t, "sh", "-c", "ulimit -c 0; ulimit -c unlimited; grep -e core -e priority /proc/self/limits | tr -s ' '").run(t)
	want := "Max core file size 1 1 bytes \nMax nice priority 0 0 \nMax realtime priority 0 0 \n"
	if got := readAll(t, run.Stdout); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestServerSpeaksOverTheRunnersStreams(t *testing.T) {
	for kind, sockets := range map[string]bool{"fifo": false, "socket": true} {
		t.Run(kind, func(t *testing.T) { speaks(t, kind, sockets) })
	}
}

func speaks(t *testing.T, kind string, sockets bool) {
	run := start(t, "sh", "-c", `read line; echo "got $line $ADDED $TOLD $(stat -L -c %F /proc/self/fd/0)"; echo oops >&2; exit 7`).
		started(t, shim.Setup{Env: []string{"ADDED=decoy", "TOLD=by the runner"}, Sockets: sockets})
	if _, err := fmt.Fprintln(run.Stdin, "hello"); err != nil {
		t.Fatal(err)
	}
	out, errOut := readAll(t, run.Stdout), readAll(t, run.Stderr)
	if out != "got hello decoy by the image "+kind+"\n" || errOut != "oops\n" {
		t.Errorf("stdout %q, stderr %q", out, errOut)
	}
	wait(t, run.Exited())
	if status, known := run.Status(); !known || status.ExitStatus() != 7 {
		t.Errorf("status %v, %v; want 7", status, known)
	}
}

func TestStreamsCanBeOpenedByName(t *testing.T) {
	run := start(t, "sh", "-c", `cat /dev/stdin > /dev/stdout; echo done > /dev/stderr`).run(t)
	if _, err := io.WriteString(run.Stdin, "through names"); err != nil {
		t.Fatal(err)
	}
	if err := run.Stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if out, errOut := readAll(t, run.Stdout), readAll(t, run.Stderr); out != "through names" || errOut != "done\n" {
		t.Errorf("stdout %q, stderr %q", out, errOut)
	}
}

func TestFailuresComeInWords(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "shim-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tc := range []struct{ name, command, want string }{
		{"not in PATH", "no-such-program-here", "is not in PATH"},
		{"no such file", "/nonexistent/server", "does not exist"},
		{"not executable", write("plain", "text", 0o644), "is not executable"},
		{"no interpreter", write("script", "#!/nonexistent/interpreter\n", 0o755), "the interpreter or loader that it names does not"},
		{"no program", write("noise", "\x00\x01\x02\x03", 0o755), "is no program of this machine"},
		{"32 bits", write("narrow", "\x7fELF\x01\x01\x01", 0o755), "is a 32-bit program"},
		{"no command", "", "there is no command"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := start(t, tc.command)
			ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
			defer cancel()
			run, err := c.Setup(ctx, shim.Setup{})
			if err != nil {
				t.Fatal(err)
			}
			defer run.Close()
			if err := c.Go(ctx, ptrace.AtNone); !errors.Is(err, shim.ErrNotStarted) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// daemon forks twice, leaves the session and prints the pid of the process that stays.
const daemon = `setsid sh -c 'trap "" TERM HUP; echo $$; exec sleep 1000' <&- & wait; exit 0`

func TestStopKillsDaemonsAndASecondRunFollows(t *testing.T) {
	c := start(t, "sh", "-c", `(`+daemon+`) & sleep 1000`)
	ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
	defer cancel()
	for range 2 {
		run := c.run(t)
		pid := readPID(t, run.Stdout)
		if err := c.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		gone(t, pid)
		wait(t, run.Exited())
		if status, known := run.Status(); !known || status.Signal() != syscall.SIGTERM {
			t.Errorf("status %v, %v; want terminated", status, known)
		}
	}
}

// TestStopLetsTheServerActOnSIGTERM: the trace must have what a server does on SIGTERM.
func TestStopLetsTheServerActOnSIGTERM(t *testing.T) {
	c := start(t, "sh", "-c", `trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 1000 & wait; done`)
	run := c.run(t)
	if err := run.Stdout.SetReadDeadline(time.Now().Add(poll.Patience)); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(run.Stdout)
	if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if line, err := out.ReadString('\n'); err != nil || line != "bye\n" {
		t.Errorf("%q, %v", line, err)
	}
	wait(t, run.Exited())
	if status, known := run.Status(); !known || status.ExitStatus() != 3 {
		t.Errorf("status %v, %v; want 3", status, known)
	}
}

// TestStopInterruptsTheServer: a server may act on SIGINT and go on; it gets SIGTERM then.
func TestStopInterruptsTheServer(t *testing.T) {
	c := start(t, "sh", "-c", `trap "echo interrupted" INT; trap "echo bye; exit 3" TERM; echo ready; while :; do sleep 1000 & wait; done`)
	run := c.started(t, shim.Setup{Parting: []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}})
	if err := run.Stdout.SetReadDeadline(time.Now().Add(poll.Patience)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
	defer cancel()
	out := bufio.NewScanner(run.Stdout)
	for _, want := range []string{"ready", "interrupted", "bye"} {
		if !out.Scan() || out.Text() != want {
			t.Errorf("%q, %v; want %q", out.Text(), out.Err(), want)
		}
		if want == "ready" {
			if err := c.Stop(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAStartThatTookTooLong: another start can follow, and does not get the first one's answer.
func TestAStartThatTookTooLong(t *testing.T) {
	c := start(t, "sh", "-c", "echo ready; sleep 1000")
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if in, err := c.Setup(over, shim.Setup{}); err == nil { // the answer came at once
		in.Close()
		if err := c.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	run := c.run(t)
	if line, err := bufio.NewReader(run.Stdout).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := c.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestTheEndOfTheRunnerIsTheEndOfTheServer(t *testing.T) {
	c := start(t, "sh", "-c", daemon+" & sleep 1000")
	pid := readPID(t, c.run(t).Stdout)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != shim.ExitOrphaned {
		t.Errorf("shim ended with %v, want exit status %d", err, shim.ExitOrphaned)
	}
	gone(t, pid)
}

func TestTheShimEndsAsTheServerDid(t *testing.T) {
	for _, tc := range []struct {
		script string
		want   int
	}{{"exit 0", 0}, {"exit 9", 9}, {"kill -KILL $$", 137}} {
		c := start(t, "sh", "-c", tc.script)
		wait(t, c.run(t).Exited())
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		_ = c.cmd.Wait() // the exit code is checked next
		if got := c.cmd.ProcessState.ExitCode(); got != tc.want {
			t.Errorf("%s: shim exited %d, want %d", tc.script, got, tc.want)
		}
	}
}

func TestAKilledShimIsNoticed(t *testing.T) {
	c := start(t, "sh", "-c", "read line; kill -KILL $PPID; exec sleep 1000")
	run := c.run(t)
	if _, err := fmt.Fprintln(run.Stdin, "now"); err != nil {
		t.Fatal(err)
	}
	wait(t, run.Exited())
	if _, known := run.Status(); known {
		t.Error("a status is known of a run whose shim was killed")
	}
	wait(t, c.Closed())
	_ = syscall.Kill(run.PID, syscall.SIGKILL) // no subreaper is left to do it
}

func TestNobodyElseGetsThrough(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
	defer cancel()
	result := make(chan error, 1)
	go func() {
		_, err := shim.Accept(ctx, socket)
		result <- err
	}()
	conn, err := shim.Dial(ctx, socket) // under our own uid
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := <-result; err == nil || !strings.Contains(err.Error(), "the runner's own") {
		t.Errorf("a peer of our own uid: %v", err)
	}
	if _, err := net.Dial("unix", socket); err == nil {
		t.Error("a second connection got through")
	}
}

func TestAcceptEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := shim.Accept(ctx, filepath.Join(t.TempDir(), "s")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context canceled", err)
	}
}

func readAll(t *testing.T, f *os.File) string {
	t.Helper()
	if err := f.SetReadDeadline(time.Now().Add(poll.Patience)); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func readPID(t *testing.T, f *os.File) int {
	t.Helper()
	if err := f.SetReadDeadline(time.Now().Add(poll.Patience)); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func wait(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(poll.Patience):
		t.Fatal("waited in vain")
	}
}

func gone(t *testing.T, pid int) {
	t.Helper()
	poll.Until(t, fmt.Sprintf("process %d is gone", pid), func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
}
