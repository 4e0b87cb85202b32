package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestS13OneUnifiedGroup: a process that enters a second group of cgroup2 has left the
// first, and with it the bound of its memory.
func TestS13OneUnifiedGroup(t *testing.T) {
	root := t.TempDir()
	slice := filepath.Join(root, "app.slice")
	group := groupName(os.Getpid())
	for _, file := range []string{"app.slice/" + group + "/memory.max", "app.slice/" + group + "/cgroup.procs", group + "/cpu.weight", group + "/cgroup.procs"} {
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &confinement{groups: []string{filepath.Join(slice, group), filepath.Join(root, group)}} // cgroupfs makes the files
	parents := []parent{{slice, true}, {root, true}}
	for _, wanted := range controllers(DefaultMemory) {
		entered := c.enter(os.Getpid(), wanted, parents)
		if entered != (wanted.name == "memory") {
			t.Errorf("%s: entered a group: %t", wanted.name, entered)
		}
	}
	if c.unified != filepath.Join(slice, group) {
		t.Errorf("the group is %s", c.unified)
	}
	if procs, err := os.ReadFile(filepath.Join(root, group, "cgroup.procs")); err != nil || len(procs) > 0 {
		t.Errorf("entered %q as well, %v", procs, err)
	}
}

// TestS13MembershipIsRead: what a process is in says its own list, not what was written.
func TestS13MembershipIsRead(t *testing.T) {
	for _, tc := range []struct {
		own  string
		want bool
	}{
		{"0::/app.slice/job-7-1\n", true},
		{"0::/job-7-1/below\n", false},
		{"0::/app.slice\n", false},
		{"4:memory:/a/job-7-1\n0::/\n", true},
		{"4:cpu,memory:/job-7-1\n", true},
		{"4:memory:/\n8:pids:/job-7-1\n0::/\n", false},
		{"4:memory:/\n0::/job-7-1\n", false},
		{"nonsense\n", false},
	} {
		if got := isIn(tc.own, "memory", "job-7-1"); got != tc.want {
			t.Errorf("%q: in the group: %t, want %t", tc.own, got, tc.want)
		}
	}
}

// TestS13NoLimitOfData: without a group the memory is not bounded, and said to be so: a
// limit of data stops runtimes that reserve what they never use.
func TestS13NoLimitOfData(t *testing.T) {
	if fallback(os.Getpid(), "memory") {
		t.Error("the memory of a process is bounded without a group")
	}
}
