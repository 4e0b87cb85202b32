package sandbox

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// maxProcesses bounds the processes and threads of a sandbox, those of the tracer
	// and of the stages among them: it stops a fork bomb.
	maxProcesses = 4096
	// DefaultMemory bounds the memory of a sandbox, in bytes. Files that the server
	// writes are part of it.
	DefaultMemory int64 = 2 << 30
)

// controller is a control group controller, and the settings of its files in each version
// of cgroups(7). Some kernels lack the optional files.
type controller struct {
	name     string
	v1, v2   map[string]int64
	optional map[string]int64
	// unbounded says what has no bound without it.
	unbounded string
}

func controllers(memory int64) []controller {
	processes := map[string]int64{"pids.max": maxProcesses}
	return []controller{
		{ // first: with cgroup2 the others have to be in the same group
			name: "memory", v1: map[string]int64{"memory.limit_in_bytes": memory}, v2: map[string]int64{"memory.max": memory},
			optional:  map[string]int64{"memory.memsw.limit_in_bytes": memory, "memory.swap.max": 0, "memory.oom.group": 0},
			unbounded: "the server's memory",
		},
		{name: "pids", v1: processes, v2: processes, unbounded: "the number of the server's processes"},
		// Half of the usual share: the machine stays usable, and an idle one gives all of itself.
		{name: "cpu", v1: map[string]int64{"cpu.shares": 512}, v2: map[string]int64{"cpu.weight": 50}, unbounded: "the server's share of the processors"},
	}
}

// confinement has the control groups of one sandbox, and what remains unbounded.
type confinement struct {
	groups []string
	// unified is the group of cgroup2, in whose hierarchy a process is in one group only;
	// empty before there is one.
	unified   string
	unbounded []string
}

// confine bounds the processes, the memory and the share of the processors of one
// process and of all that it starts from now on.
//
// Where no group can be made, a resource limit bounds the number of processes, except those
// of the machine's uid 0: the kernel exempts it (kernel/fork.c, copy_process).
func confine(pid int, memory int64) (*confinement, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	c := &confinement{}
	var entered []controller
	for _, wanted := range controllers(memory) {
		switch {
		case c.enter(pid, wanted, groups(string(mounts), string(own), wanted.name)):
			entered = append(entered, wanted)
		case !fallback(pid, wanted.name):
			c.unbounded = append(c.unbounded, wanted.unbounded+" is not bounded: no control group could be made")
		}
	}
	now, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid)) // no membership if it cannot be read
	for _, wanted := range entered {
		if !isIn(string(now), wanted.name, groupName(pid)) {
			c.unbounded = append(c.unbounded, wanted.unbounded+" is not bounded: the process is not in its control group")
		}
	}
	return c, nil
}

// isIn reports whether a list of groups (/proc/PID/cgroup) has a group of a name: in the
// hierarchy of the controller, or in the unified one (cgroups(7)).
func isIn(own, controller, group string) bool {
	unified := false
	for line := range strings.Lines(own) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		in := filepath.Base(parts[2]) == group
		if slices.Contains(strings.Split(parts[1], ","), controller) {
			return in
		}
		unified = unified || parts[1] == "" && in
	}
	return unified
}

// fallback sets the resource limit that comes closest to a controller, and reports whether
// it holds.
func fallback(pid int, controller string) bool {
	switch {
	case controller == "cpu":
		return unix.Setpriority(unix.PRIO_PROCESS, pid, 5) == nil
	case controller == "memory" || os.Getuid() == 0:
		return false // runtimes reserve far more data than they use, so RLIMIT_DATA would stop honest ones
	}
	limit := unix.Rlimit{Cur: maxProcesses, Max: maxProcesses}
	return unix.Prlimit(pid, unix.RLIMIT_NPROC, &limit, nil) == nil
}

// enter makes a group with the controller below the first parent that allows it, puts a
// process into it, and reports whether it could.
func (c *confinement) enter(pid int, wanted controller, parents []parent) bool {
	for _, p := range parents {
		sweep(p.dir)
		group := filepath.Join(p.dir, groupName(pid))
		if p.unified && c.unified != "" && group != c.unified {
			continue // to enter it would leave the other
		}
		made := os.Mkdir(group, 0o755)
		if made != nil && !slices.Contains(c.groups, group) {
			continue
		}
		settings := wanted.v1
		if p.unified {
			settings = wanted.v2
		}
		if err := enterGroup(group, pid, settings); err != nil {
			if made == nil {
				_ = os.Remove(group) // empty
			}
			continue
		}
		for name, value := range wanted.optional {
			_ = write(filepath.Join(group, name), value) // not there without swap accounting
		}
		if made == nil {
			c.groups = append(c.groups, group)
		}
		if p.unified {
			c.unified = group
		}
		return true
	}
	return false
}

// killed reports whether the kernel has ended a process for want of memory.
func (c *confinement) killed() bool {
	return slices.ContainsFunc(c.groups, func(group string) bool {
		return counted(filepath.Join(group, "memory.events"), "oom_kill") || counted(filepath.Join(group, "memory.oom_control"), "oom_kill")
	})
}

// counted reports whether a file of counters has one that is not zero.
func counted(file, name string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return value != "0"
		}
	}
	return false
}

// remove removes the groups, which are empty.
func (c *confinement) remove() {
	for _, group := range c.groups {
		_ = os.Remove(group) // or sweep does, later
	}
}

// groupPrefix begins the names of our groups. The server can read it (/proc/self/cgroup),
// so it does not mention an audit.
const groupPrefix = "job-"

// groupName names the group of a process by its pid and start time, which identify the
// process for ever.
func groupName(pid int) string {
	started, _ := startTime(pid)
	return fmt.Sprintf("%s%d-%d", groupPrefix, pid, started)
}

// sweep removes the groups of audits that were killed, which are named by processes that are gone.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range entries {
		var pid int
		var started uint64
		name := entry.Name()
		if n, err := fmt.Sscanf(name, groupPrefix+"%d-%d", &pid, &started); n != 2 || err != nil ||
			name != fmt.Sprintf("%s%d-%d", groupPrefix, pid, started) || started == 0 {
			continue
		}
		if now, err := startTime(pid); errors.Is(err, os.ErrNotExist) || err == nil && now != started {
			_ = os.Remove(filepath.Join(parent, name)) // fails while a process is in it
		}
	}
}

// startTime returns when a process started, in ticks since the boot
// (proc_pid_stat(5), starttime).
func startTime(pid int) (uint64, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	// The name of the program, in parentheses, may have spaces.
	fields := strings.Fields(string(stat)[strings.LastIndexByte(string(stat), ')')+1:])
	const starttime = 22 - 3
	if len(fields) <= starttime {
		return 0, fmt.Errorf("read the start time of process %d: %q", pid, stat)
	}
	return strconv.ParseUint(fields[starttime], 10, 64)
}

// enterGroup writes the settings of a group and puts a process into it.
func enterGroup(group string, pid int, settings map[string]int64) error {
	for name, value := range settings {
		if err := write(filepath.Join(group, name), value); err != nil {
			return err
		}
	}
	return write(filepath.Join(group, "cgroup.procs"), int64(pid))
}

// write writes to a file that exists.
func write(file string, value int64) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.FormatInt(value, 10))
	return errors.Join(err, f.Close())
}

// parent is a directory in which a group may be made.
type parent struct {
	dir     string
	unified bool
}

// groups are the directories in which a group with a controller may be made, the
// nearest first: our own group, and with cgroup2, where processes are in the leaves,
// those above it (cgroups(7)).
func groups(mountinfo, own, controller string) []parent {
	paths := map[string]string{} // by controllers
	for line := range strings.Lines(own) {
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 {
			paths[parts[1]] = parts[2]
		}
	}
	var found []parent
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		dash := slices.Index(fields, "-")
		if dash < 6 || dash+3 >= len(fields) {
			continue
		}
		root, at := unescape(fields[3]), unescape(fields[4])
		switch kind, options := fields[dash+1], strings.Split(fields[dash+3], ","); {
		case kind == "cgroup" && slices.Contains(options, controller):
			for controllers, path := range paths {
				if slices.Contains(strings.Split(controllers, ","), controller) {
					found = append(found, parent{below(at, root, path), false})
				}
			}
		case kind == "cgroup2":
			for dir := below(at, root, paths[""]); ; dir = filepath.Dir(dir) {
				found = append(found, parent{dir, true})
				if dir == at || len(dir) <= len(at) {
					break
				}
			}
		}
	}
	return found
}

// below returns the path of a group under a mount that shows the hierarchy below root.
func below(at, root, path string) string {
	rest, err := filepath.Rel(root, path)
	if err != nil || strings.HasPrefix(rest, "..") {
		return at
	}
	return filepath.Join(at, rest)
}
