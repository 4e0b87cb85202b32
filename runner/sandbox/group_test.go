package sandbox

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpaudit/mcpaudit/test/poll"
)

func TestGroups(t *testing.T) {
	const (
		v1     = "30 25 0:26 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n31 25 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		v2     = "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
		inside = "30 25 0:26 /docker/abc /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n"
	)
	for name, tc := range map[string]struct {
		mounts, own string
		want        []parent
	}{
		"none":        {"1 0 8:1 / / rw - ext4 /dev/sda rw\n", "0::/\n", nil},
		"v1":          {v1, "8:pids:/user.slice\n1:cpu:/\n0::/\n", []parent{{"/sys/fs/cgroup/pids/user.slice", false}}},
		"v1, inside":  {inside, "8:pids:/docker/abc/x\n", []parent{{"/sys/fs/cgroup/pids/x", false}}},
		"v1, outside": {inside, "8:pids:/other\n", []parent{{"/sys/fs/cgroup/pids", false}}},
		"v2": {v2, "0::/user.slice/a.scope\n", []parent{
			{"/sys/fs/cgroup/user.slice/a.scope", true}, {"/sys/fs/cgroup/user.slice", true}, {"/sys/fs/cgroup", true},
		}},
		"nonsense": {"a - cgroup2\n1 2 3 4 5 6 - cgroup2\n", ":\n::\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := groups(tc.mounts, tc.own, "pids"); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// What is confined cannot have more processes than its group is for; the group goes
// with them.
func TestConfine(t *testing.T) {
	shell := exec.Command("sh", "-c", "read go; for i in $(seq 100); do sleep 60 & done; echo none failed")
	stdin, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	shell.Stdout, shell.Stderr = &said, &said
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() { _ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	defer end()
	limits, err := confine(shell.Process.Pid, 256<<20)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(limits.groups, func(group string) bool {
		_, err := os.Stat(filepath.Join(group, "pids.max"))
		return err == nil
	})
	if i < 0 {
		t.Skipf("no control group can be made here: %q", limits.unbounded)
	}
	group := limits.groups[i]
	if most, err := os.ReadFile(filepath.Join(group, "pids.max")); err != nil || strings.TrimSpace(string(most)) != strconv.Itoa(maxProcesses) {
		t.Errorf("pids.max is %q, %v", most, err)
	}
	if err := write(filepath.Join(group, "pids.max"), 20); err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	poll.Until(t, "the kernel has refused one", func() bool {
		events, err := os.ReadFile(filepath.Join(group, "pids.events"))
		return err == nil && strings.HasPrefix(string(events), "max ") && strings.TrimSpace(string(events)) != "max 0"
	})
	end()
	_ = shell.Wait() // it was killed
	if strings.Contains(said.String(), "none failed") {
		t.Error("a hundred processes were not too many for a group of 20")
	}
	poll.Until(t, "the groups are empty", func() bool {
		limits.remove()
		return !slices.ContainsFunc(limits.groups, func(group string) bool {
			_, err := os.Stat(group)
			return err == nil
		})
	})
}

// TestS13MemoryIsBounded: a process that takes more than its group may have is killed,
// and the group says so.
func TestS13MemoryIsBounded(t *testing.T) {
	shell := exec.Command("sh", "-c", "read go; exec tail /dev/zero")
	stdin, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	limits, err := confine(shell.Process.Pid, minTestMemory)
	if err != nil || slices.ContainsFunc(limits.unbounded, func(what string) bool { return strings.Contains(what, "memory") }) || len(limits.groups) == 0 {
		_ = stdin.Close() // the shell ends
		_ = shell.Wait()
		t.Skipf("no control group can be made here: %+v, %v", limits, err)
	}
	defer limits.remove()
	if limits.killed() {
		t.Error("killed before anything was taken")
	}
	if _, err := stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	_ = shell.Wait() // killed
	poll.Until(t, "the group says so", limits.killed)
}

const minTestMemory = 32 << 20

// TestL6OnlyOwnGroupsAreRemoved: the name has to prove whose a group was.
func TestL6OnlyOwnGroupsAreRemoved(t *testing.T) {
	parent := t.TempDir()
	own := groupName(os.Getpid())
	left := []string{"job-1", "job-4194305", "job-4194305-", "job-4194305-0", "job-4194305-1x", "job-+4194305-1", "other-4194305-1", own}
	for _, name := range append([]string{"job-4194305-1", own + "1"}, left...) {
		if err := os.Mkdir(filepath.Join(parent, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sweep(parent)
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	slices.Sort(left)
	if !slices.Equal(got, left) {
		t.Errorf("left %q, want %q", got, left)
	}
}
