package shim

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/ptrace"
)

func pair(t *testing.T) (*net.UnixConn, *net.UnixConn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var conns [2]*net.UnixConn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "pair")
		conn, err := net.FileConn(file)
		if err != nil {
			t.Fatal(err)
		}
		_ = file.Close() // the connection has a copy
		conns[i] = conn.(*net.UnixConn)
		t.Cleanup(func() { _ = conn.Close() })
	}
	return conns[0], conns[1]
}

func TestMessagesCarryDescriptors(t *testing.T) {
	a, b := pair(t)
	run, theirs, err := newRun(false)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	sent := message{Kind: kindSetup, Setup: &Setup{Env: []string{"A=" + strings.Repeat("x", 1000)}}}
	if err := send(a, sent, theirs...); err != nil {
		t.Fatal(err)
	}
	closeAll(theirs)
	got, files, err := receive(b)
	if err != nil || got.Kind != kindSetup || !slices.Equal(got.Setup.Env, sent.Setup.Env) || len(files) != 3 {
		t.Fatalf("got %+v, %d files, %v", got, len(files), err)
	}
	closeAll(files)
}

func TestBadMessagesAreRefused(t *testing.T) {
	for name, packet := range map[string]string{
		"too long": "\xff\xff\xff\xff", "no JSON": "\x00\x00\x00\x02no", "cut short": "\x00\x00\x00\x09{",
		"length cut short": "\x00",
	} {
		a, b := pair(t)
		if _, err := a.Write([]byte(packet)); err != nil {
			t.Fatal(err)
		}
		_ = a.Close() // the peer is gone
		if m, _, err := receive(b); err == nil {
			t.Errorf("%s: got %+v", name, m)
		}
	}
	a, _ := pair(t)
	if err := send(a, message{Kind: kindFailed, Text: strings.Repeat("x", maxMessage)}); err == nil {
		t.Error("a message that no one would take was sent")
	}
}

// TestTheShimKeepsToTheOrder: a peer that breaks the order is not our runner.
func TestTheShimKeepsToTheOrder(t *testing.T) {
	for _, first := range []message{{Kind: kindGo}, {Kind: kindSetup}, {Kind: "hello"}, {Kind: kindReady}} {
		a, b := pair(t)
		if err := send(a, first); err != nil {
			t.Fatal(err)
		}
		spawn := func([]*os.File, []string, []string) (*StartBarrier, error) {
			return nil, fmt.Errorf("nothing is to be spawned")
		}
		if code := Supervise(b, spawn); code != 0 {
			t.Errorf("after %q: exit code %d, with nothing running", first.Kind, code)
		}
	}
}

func TestMerge(t *testing.T) {
	got := merge([]string{"A=image", "EMPTY="}, []string{"A=runner", "B=runner", "EMPTY=runner"})
	if want := []string{"A=image", "EMPTY=", "B=runner"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDescendants(t *testing.T) {
	got := descendants(10, map[int]int{1: 0, 10: 1, 11: 10, 12: 11, 13: 12, 20: 1, 21: 20, 14: 10})
	slices.Sort(got)
	if want := []int{11, 12, 13, 14}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := descendants(1, map[int]int{2: 3, 3: 2}); len(got) != 0 {
		t.Errorf("a ring of strangers is below us: %v", got)
	}
}

func TestParentOf(t *testing.T) {
	for stat, want := range map[string]int{
		"7 (sh) S 3 7 7 0":        3,
		"7 (a) S 9 (b) R 5 7 7 0": 5,
		"7 (x y) z) S 12 1":       12,
		"7 (sh":                   -1, "": -1, "7 (sh) S": -1, "7 (sh) S x": -1, "7 (sh) S -4": -1,
	} {
		got, ok := parentOf([]byte(stat))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("parentOf(%q) = %d, %v; want %d", stat, got, ok, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"kind":"setup","env":["A=b"]}`))
	f.Fuzz(func(_ *testing.T, body []byte) { _, _ = decode(body) })
}

func FuzzParentOf(f *testing.F) {
	f.Add([]byte("7 (sh) S 3 7"))
	f.Fuzz(func(t *testing.T, stat []byte) {
		if parent, ok := parentOf(stat); ok && parent < 0 {
			t.Errorf("parentOf(%q) = %d", stat, parent)
		}
	})
}

// TestCloseDoesNotWaitForAChatterer: a peer that sends unasked answers fills the
// channel for answers.
func TestCloseDoesNotWaitForAChatterer(t *testing.T) {
	a, b := pair(t)
	link := NewLink(a)
	for range 3 {
		if err := send(b, message{Kind: kindReady}); err != nil {
			t.Fatal(err)
		}
	}
	for len(link.answers) == 0 {
		runtime.Gosched() // until listen has begun to take them
	}
	done := make(chan error, 1)
	go func() { done <- link.Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("Close hangs")
	}
}

// TestAShimThatIsGoneOnceTheGateIsOpenIsARun: the server's first act may be to kill the shim.
func TestAShimThatIsGoneOnceTheGateIsOpenIsARun(t *testing.T) {
	for _, tc := range []struct {
		last []message
		want error
	}{
		{nil, nil},
		{[]message{{Kind: kindStarted}}, nil},
		{[]message{{Kind: kindFailed, Text: "no such file"}}, ErrNotStarted},
	} {
		a, b := pair(t)
		link := NewLink(a)
		t.Cleanup(func() { _ = link.Close() })
		go func() { // the shim
			_, files, _ := receive(b)
			closeAll(files)
			_ = send(b, message{Kind: kindReady, PID: 7})
			_, _, _ = receive(b)
			for _, m := range tc.last {
				_ = send(b, m)
			}
			_ = b.Close()
		}()
		run, err := link.Setup(t.Context(), Setup{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(run.Close)
		if err := link.Go(t.Context(), ptrace.AtNone); !errors.Is(err, tc.want) {
			t.Errorf("after %+v: Go = %v, want %v", tc.last, err, tc.want)
		}
		<-run.Exited()
		if _, known := run.Status(); known {
			t.Errorf("after %+v: the end of the server is known", tc.last)
		}
		if _, err := link.Setup(t.Context(), Setup{}); err == nil {
			t.Errorf("after %+v: it was started again", tc.last)
		}
	}
}
