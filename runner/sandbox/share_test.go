package sandbox_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAA1LeavesHalf: what the kernel counts by user, a server cannot take from the user's other programs.
func TestAA1LeavesHalf(t *testing.T) {
	o := shell(t, `cat /proc/sys/user/max_inotify_instances /proc/sys/user/max_inotify_watches; cat /proc/self/limits; grep devpts /proc/self/mounts`)
	for _, name := range []string{"instances", "watches"} {
		text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_" + name)
		if err != nil {
			t.Fatal(err)
		}
		var all int
		if _, err := fmt.Sscan(string(text), &all); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%d\n", all/2); !strings.Contains("\n"+o.stdout, "\n"+want) {
			t.Errorf("no limit of %q for inotify %s", want, name)
		}
	}
	for resource, name := range map[int]string{
		unix.RLIMIT_MSGQUEUE: "Max msgqueue size", unix.RLIMIT_SIGPENDING: "Max pending signals", unix.RLIMIT_MEMLOCK: "Max locked memory",
	} {
		var own unix.Rlimit
		if err := unix.Getrlimit(resource, &own); err != nil {
			t.Fatal(err)
		}
		if own.Max == unix.RLIM_INFINITY {
			continue
		}
		if got := hardLimit(o.stdout, name); got != fmt.Sprint(own.Max/2) {
			t.Errorf("%s: %s, want half of %d", name, got, own.Max)
		}
	}
	if got := hardLimit(o.stdout, "Max core file size"); got != "1" {
		t.Errorf("core dumps of %s bytes are handed to the machine", got)
	}
	if !strings.Contains(o.stdout, "max=256") {
		t.Error("the terminals are not bounded")
	}
}

// hardLimit finds a hard limit in a /proc/PID/limits.
func hardLimit(limits, name string) string {
	for line := range strings.Lines(limits) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if fields := strings.Fields(rest); len(fields) > 1 {
				return fields[1]
			}
		}
	}
	return ""
}
