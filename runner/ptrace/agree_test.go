package ptrace_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/trace"
	"github.com/mcpaudit/mcpaudit/test/poll"
)

func init() { runtime.LockOSThread() }

// roleArg makes the test binary a program that does what the role behind it
// says, in the directory behind that.
const roleArg = "play-a-role"

// The test binary is the tracer, and what is traced.
func TestMain(m *testing.M) {
	if code, ok := ptrace.Stage(os.Args[1:]); ok {
		os.Exit(code)
	}
	if len(os.Args) == 2 && os.Args[1] == untracedArg {
		os.Exit(untraced())
	}
	if len(os.Args) == 2 && os.Args[1] == swapArg {
		os.Exit(swap())
	}
	if len(os.Args) == 4 && os.Args[1] == roleArg {
		if err := roles[os.Args[2]](os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, os.Args[2]+":", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// seen holds what one tracer saw of a program.
type seen struct {
	events []string
	stats  trace.Stats
	text   string
}

// watch runs a role under a tracer.
func watch(t *testing.T, b plan.Tracer, role string) seen {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	cfg := trace.Config{Backend: b, File: filepath.Join(t.TempDir(), "trace")}
	argv := trace.Wrap(cfg, []string{self, roleArg, role, dir})
	ctx, cancel := context.WithTimeout(t.Context(), poll.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2", "GODEBUG=asyncpreemptoff=1")
	cmd.WaitDelay = time.Second
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v: %s", b, err, said)
	}
	session, err := trace.Follow(cfg)
	if err != nil {
		t.Fatal(err)
	}
	session.Ended()
	var s seen
	if err := session.Run(ctx, func(e trace.Event) {
		if line := describe(e, dir); line != "" {
			s.events = append(s.events, line)
		}
	}); err != nil {
		t.Fatal(err)
	}
	s.stats = session.Stats()
	text, err := os.ReadFile(cfg.File)
	if err != nil {
		t.Fatal(err)
	}
	s.text = string(text)
	return s
}

// port matches the one of an address which the kernel has chosen.
var port = regexp.MustCompile(`(127\.0\.0\.1|\[::1\]):\d{4,5}`)

// nameless matches the name of a file which has none.
var nameless = regexp.MustCompile(`#\d+`)

// describe is an event without what differs from run to run; "" for what the
// runtime does whenever it pleases.
func describe(e trace.Event, dir string) string {
	for _, own := range []string{"/sys/", "/proc/", "/etc/", "/usr/", "/lib", "/dev/"} {
		if strings.HasPrefix(e.Path, own) && e.Op != trace.OpExec {
			return ""
		}
	}
	s := fmt.Sprintf("%s %s %s %s %v %v %s refused=%t blinded=%t %q cut=%t %s", e.Op, e.Syscall, e.Path, e.Target, e.Flags, e.Argv,
		e.Errno, e.Refused, e.Blinded, e.Data, e.Cut, e.Value)
	if e.Socket != nil {
		local := e.Socket.Local.String()
		if e.Socket.Protocol == "udp" {
			local = "" // strace goes by what it was when it first saw it, we by what it is
		}
		s += fmt.Sprintf(" %s %s %s -> %s %s", e.Socket.Family, e.Socket.Protocol, local, e.Socket.Remote, e.Socket.Path)
	}
	if e.Op != trace.OpExec {
		s += fmt.Sprintf(" env=%v", e.Env)
	}
	return nameless.ReplaceAllString(port.ReplaceAllString(strings.ReplaceAll(s, dir, "DIR"), "$1:PORT"), "#NUMBER")
}

// TestBackendsAgree: both tracers see the same of programs that do what is hard
// to trace.
func TestBackendsAgree(t *testing.T) {
	if _, err := trace.Version(t.Context()); err != nil {
		t.Fatalf("%v: hack/install.sh brings it", err)
	}
	for role := range roles {
		t.Run(role, func(t *testing.T) {
			theirs, ours := watch(t, plan.TracerStrace, role), watch(t, plan.TracerPtrace, role)
			for _, s := range []trace.Stats{theirs.stats, ours.stats} {
				if s.Unparsed+s.Cut+s.Dropped+s.Blinded+s.Alive > 0 || !s.Begun || s.Events == 0 {
					t.Errorf("stats %+v", s)
				}
			}
			slices.Sort(theirs.events)
			slices.Sort(ours.events)
			for _, e := range missing(theirs.events, ours.events) {
				t.Errorf("only strace saw  %s", e)
			}
			for _, e := range missing(ours.events, theirs.events) {
				t.Errorf("only ptrace saw  %s", e)
			}
			if t.Failed() {
				t.Logf("strace:\n%s\nptrace:\n%s", theirs.text, ours.text)
			}
		})
	}
}

// missing are the elements of a, sorted, that are not in b.
func missing(a, b []string) []string {
	var all []string
	for _, s := range a {
		if i, found := slices.BinarySearch(b, s); found {
			b = slices.Delete(slices.Clone(b), i, i+1)
			continue
		}
		all = append(all, s)
	}
	return all
}
