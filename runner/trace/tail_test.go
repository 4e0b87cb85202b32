package trace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/test/poll"
)

// writer is a trace file that a test writes.
func writer(t *testing.T) (out, in *os.File) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "trace")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	in, err = os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = out.Close(), in.Close() })
	return out, in
}

func put(t *testing.T, f *os.File, s string) {
	t.Helper()
	if _, err := f.WriteString(s); err != nil {
		t.Fatal(err)
	}
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestFollow(t *testing.T) {
	out, in := writer(t)
	put(t, out, "one\ntw")
	ended, lines := make(chan struct{}), make(chan string)
	done := make(chan error, 1)
	go func() {
		done <- (&tail{file: in}).follow(t.Context(), ended, func(b []byte) { lines <- string(b) })
	}()
	next := func() string {
		select {
		case l := <-lines:
			return l
		case <-time.After(poll.Patience):
			t.Fatal("no line came")
			return ""
		}
	}
	got := []string{next()}
	put(t, out, "o\nthree\nhalf of a li") // completes the half line
	got = append(got, next(), next())
	close(ended)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "two", "three"}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestFollowCutsLongLines(t *testing.T) {
	out, in := writer(t)
	put(t, out, "a\n"+strings.Repeat("x", maxLine+10)+"\nb\n"+strings.Repeat("y", maxLine)+"\nc\n")
	var got []int
	tail := &tail{file: in}
	if err := tail.follow(t.Context(), closed(), func(b []byte) { got = append(got, len(b)) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{1, 1, maxLine, 1}, got); diff != "" {
		t.Errorf("lengths (-want +got):\n%s", diff)
	}
	if tail.cut != 1 {
		t.Errorf("cut = %d, want 1", tail.cut)
	}
}

// TestFollowReleases: the disk holds little more than the unread part.
func TestFollowReleases(t *testing.T) {
	out, in := writer(t)
	const size = 64 << 20
	put(t, out, strings.Repeat(strings.Repeat("x", 1023)+"\n", size/1024))
	lines := 0
	tail := &tail{file: in}
	if err := tail.follow(t.Context(), closed(), func([]byte) { lines++ }); err != nil {
		t.Fatal(err)
	}
	if lines != size/1024 {
		t.Errorf("%d lines, want %d", lines, size/1024)
	}
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(in.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	if stat.Size != size {
		t.Errorf("size is %d, want %d: the writer's offset would no longer fit", stat.Size, size)
	}
	if used := stat.Blocks * 512; !tail.noHoles && used > 2*releaseStep {
		t.Errorf("%d bytes are still on disk", used)
	}
}

func TestKeptTraceIsWhole(t *testing.T) {
	const size = 3 * releaseStep
	out, in := writer(t)
	put(t, out, strings.Repeat(strings.Repeat("x", 1023)+"\n", size/1024))
	kept := &tail{file: in, noHoles: true}
	if err := kept.follow(t.Context(), closed(), func([]byte) {}); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 1023)
	if _, err := in.ReadAt(first, 0); err != nil || strings.Trim(string(first), "x") != "" {
		t.Errorf("the trace begins with %q, %v", first[:8], err)
	}
}

func TestFollowEnds(t *testing.T) {
	out, in := writer(t)
	put(t, out, strings.Repeat("x\n", 1000))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	forever := make(chan struct{})
	if err := (&tail{file: in}).follow(ctx, forever, func([]byte) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := (&tail{file: in, maxBytes: 100}).follow(t.Context(), forever, func([]byte) {}); !errors.Is(err, ErrOverflow) {
		t.Errorf("too long: %v", err)
	}
}

// TestLost: a session is lost if its trace ends before its processes do, or is given up.
func TestLost(t *testing.T) {
	gone := "5 2.000000 +++ exited with 0 +++\n"
	for name, tc := range map[string]struct {
		trace string
		max   int64
		stop  bool
		ended bool // the tracer, well and by itself
		err   error
		lost  bool
	}{
		"whole":     {trace: begin + "\n" + gone},
		"broken":    {trace: begin + "\n", lost: true},
		"ended":     {trace: begin + "\n", ended: true},
		"stopped":   {trace: begin + "\n", stop: true},
		"too long":  {trace: begin + "\n" + gone, max: 10, err: ErrOverflow, lost: true},
		"no server": {trace: ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "trace")
			if err := os.WriteFile(file, []byte(tc.trace), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Follow(Config{File: file, MaxBytes: tc.max})
			if err != nil {
				t.Fatal(err)
			}
			s.finished.Store(tc.ended)
			if tc.stop {
				s.Stop()
			} else {
				s.Ended()
			}
			if err := s.Run(t.Context(), func(Event) {}); !errors.Is(err, tc.err) {
				t.Errorf("Run: %v, want %v", err, tc.err)
			}
			if got := isClosed(s.Lost()); got != tc.lost {
				t.Errorf("lost = %v, want %v; %+v", got, tc.lost, s.Stats())
			}
			if (s.Why() != "") != tc.lost {
				t.Errorf("lost because %q", s.Why())
			}
			if got := s.Stats().Overflow; got != (tc.err != nil) {
				t.Errorf("Overflow = %v", got)
			}
		})
	}
}

func TestFix(t *testing.T) {
	for said, want := range map[string]string{
		`exec: "strace": executable file not found in $PATH`:                            "install strace",
		"strace: attach: ptrace(PTRACE_SEIZE, 9): Operation not permitted":              "CAP_SYS_PTRACE",
		"strace: Could not attach to process... Permission denied":                      "CAP_SYS_PTRACE",
		"strace: test_ptrace_get_syscall_info: PTRACE_TRACEME: Operation not permitted": "CAP_SYS_PTRACE",
		"strace: ptrace: Function not implemented":                                      "allow it",
		"strace: unrecognized option '--decode-pids=pidns'":                             "too old",
		"strace: invalid system call '?x'":                                              "too old",
		"strace: something else":                                                        "could not start",
	} {
		err := Unavailable(said)
		if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", said, err)
		}
	}
}

func TestRecent(t *testing.T) {
	r := newRecent[int, string](8)
	for i := range 100 {
		r.put(i, fmt.Sprint(i))
		if n := len(r.newest) + len(r.oldest); n > 8 {
			t.Fatalf("holds %d entries, want at most 8", n)
		}
	}
	if _, ok := r.get(0); ok {
		t.Error("still has the first of 100")
	}
	for i := 97; i < 100; i++ {
		if v, ok := r.get(i); !ok || v != fmt.Sprint(i) {
			t.Errorf("get(%d) = %q, %v", i, v, ok)
		}
	}
}
