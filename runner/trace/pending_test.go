package trace

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/test/poll"
)

func TestTimed(t *testing.T) {
	line := func(number int, args ...string) string {
		text := fmt.Sprint(number)
		for i := range 6 {
			value := "0x0"
			if i < len(args) {
				value = args[i]
			}
			text += " " + value
		}
		return text + " 0x7ffd 0x7f00\n"
	}
	for name, tc := range map[string]struct {
		call string
		want bool
	}{
		"an event loop with a timer":       {line(unix.SYS_EPOLL_PWAIT, "0x5", "0x7ffd", "0x400", "0x7d0"), true},
		"one without":                      {line(unix.SYS_EPOLL_PWAIT, "0x5", "0x7ffd", "0x400", "0xffffffff"), false},
		"one without, in 64 bits":          {line(unix.SYS_EPOLL_PWAIT, "0x5", "0x7ffd", "0x400", "0xffffffffffffffff"), false},
		"one that only looks":              {line(unix.SYS_EPOLL_PWAIT, "0x5", "0x7ffd", "0x400", "0x0"), false},
		"select with a time":               {line(unix.SYS_PSELECT6, "0x5", "0x1", "0x0", "0x0", "0x7ffd"), true},
		"select without":                   {line(unix.SYS_PSELECT6, "0x5", "0x1", "0x0", "0x0", "0x0"), false},
		"poll with a time":                 {line(unix.SYS_PPOLL, "0x7ffd", "0x1", "0x7ffe"), true},
		"a read":                           {line(unix.SYS_READ, "0x0", "0x7ffd", "0x400", "0x7d0"), false},
		"a process that runs":              {"running\n", false},
		"a process that is in no call":     {"-1 0x7ffd 0x7f00\n", false},
		"what the kernel would never say":  {"281 a b c d e f\n", false},
		"nothing, for it may not be asked": {"", false},
	} {
		wait, got := timed(tc.call)
		if got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
		if name == "an event loop with a timer" && wait != 2*time.Second {
			t.Errorf("%s: waits %s", name, wait)
		}
	}
}

func TestDescendants(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "cat; :")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if all := descendants(os.Getpid()); !slices.Contains(all, cmd.Process.Pid) || all[0] != os.Getpid() {
		t.Errorf("%v is without %d", all, cmd.Process.Pid)
	}
	_ = stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestCompany: processes of our own program are left out. The children of one are known until they change, and those of one
// without any for good, unless it has become another program.
func TestCompany(t *testing.T) {
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	first, second := waiting(t), waiting(t)
	ours, childless := os.Getpid(), map[string]string{}
	outdated := map[string]string{childrenFile(ours, strconv.Itoa(ours)): "1 "}
	for name, known := range map[string]company{"new": {}, "remembered as one of ours": {first: childless}, "with other children": {ours: outdated}} {
		for range 2 {
			all := known.others(ours, self)
			if slices.Sort(all); !slices.Equal(all, []int{first, second}) || known[first] != nil || len(known[ours]) == 0 {
				t.Errorf("%s: %v, want %d and %d; remembered %v", name, all, first, second, known)
			}
		}
	}
	if all := (company{ours: childless}).others(ours, self); len(all) > 0 {
		t.Errorf("%v of one of ours without children", all)
	}
}

// waiting starts a program that waits until the end of the test.
func waiting(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", "read line")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait() // read fails at the end of its input
	})
	return cmd.Process.Pid
}

// TestPendingAtWork: an always busy server may have a timer; one that waits for its input has
// none.
func TestPendingAtWork(t *testing.T) {
	for script, want := range map[string]bool{"while :; do :; done": true, "read line": false} {
		cmd := exec.Command("/bin/sh", "-c", script)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s := &Session{root: cmd.Process.Pid, company: company{}}
		ok := poll.For(poll.Patience, func() bool { // it starts first
			wait, pending := s.Pending()
			return pending == want && wait == 0
		})
		_, _, _ = stdin.Close(), cmd.Process.Kill(), cmd.Wait()
		if !ok {
			t.Errorf("%s: never %t", script, want)
		}
	}
}
