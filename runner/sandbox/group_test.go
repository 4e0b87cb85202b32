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
	"time"
)

func TestGroups(t *testing.T) {
	const (
		v1     = "30 25 0:26 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n31 25 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		v2     = "30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
		inside = "30 25 0:26 /docker/abc /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n"
	)
	for name, tc := range map[string]struct {
		mounts, own string
		want        []string
	}{
		"none":        {"1 0 8:1 / / rw - ext4 /dev/sda rw\n", "0::/\n", nil},
		"v1":          {v1, "8:pids:/user.slice\n1:cpu:/\n0::/\n", []string{"/sys/fs/cgroup/pids/user.slice"}},
		"v1, inside":  {inside, "8:pids:/docker/abc/x\n", []string{"/sys/fs/cgroup/pids/x"}},
		"v1, outside": {inside, "8:pids:/other\n", []string{"/sys/fs/cgroup/pids"}},
		"v2": {v2, "0::/user.slice/a.scope\n", []string{
			"/sys/fs/cgroup/user.slice/a.scope", "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup",
		}},
		"nonsense": {"a - cgroup2\n1 2 3 4 5 6 - cgroup2\n", ":\n::\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := groups(tc.mounts, tc.own); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
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
	group, err := confine(shell.Process.Pid)
	if err != nil || group == "" {
		t.Skipf("no control group can be made here: %q, %v", group, err)
	}
	if most, err := os.ReadFile(filepath.Join(group, "pids.max")); err != nil || strings.TrimSpace(string(most)) != strconv.Itoa(maxProcesses) {
		t.Errorf("pids.max is %q, %v", most, err)
	}
	if err := write(filepath.Join(group, "pids.max"), 20); err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	until(t, "the kernel has refused one", func() bool {
		events, err := os.ReadFile(filepath.Join(group, "pids.events"))
		return err == nil && strings.HasPrefix(string(events), "max ") && strings.TrimSpace(string(events)) != "max 0"
	})
	end()
	_ = shell.Wait() // it was killed
	if strings.Contains(said.String(), "none failed") {
		t.Error("a hundred processes were not too many for a group of 20")
	}
	until(t, "the group is empty", func() bool { return os.Remove(group) == nil })
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
