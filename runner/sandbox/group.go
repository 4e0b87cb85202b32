package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxProcesses is how many processes and threads a sandbox may have at a time, the
// tracer and our stages among them: what a fork bomb is stopped by.
const maxProcesses = 4096

// errUnbounded: nothing bounds the number of processes.
var errUnbounded = errors.New("the number of the server's processes is not bounded: no control group could be made for them")

// confine bounds how many processes one process, and all that it starts from now on,
// can be. It returns the control group that does, to be removed when they are gone; ""
// where a resource limit does.
//
// That limit is not for user 0 of the machine, whom the kernel exempts
// (kernel/fork.c, copy_process), and a group cannot always be made by anybody else.
func confine(pid int) (group string, err error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	for _, parent := range groups(string(mounts), string(own)) {
		sweep(parent)
		group := filepath.Join(parent, groupPrefix+strconv.Itoa(pid))
		if enterGroup(group, pid) == nil {
			return group, nil
		}
	}
	if os.Getuid() == 0 {
		return "", errUnbounded
	}
	limit := unix.Rlimit{Cur: maxProcesses, Max: maxProcesses}
	if err := unix.Prlimit(pid, unix.RLIMIT_NPROC, &limit, nil); err != nil {
		return "", fmt.Errorf("%w; nor a limit: %w", errUnbounded, err)
	}
	return "", nil
}

// groupPrefix begins the names of our groups, which end with the number of their first
// process. The server sees its own (/proc/self/cgroup): it says nothing of us.
const groupPrefix = "job-"

// sweep removes what audits left that were killed: groups whose first process is gone.
func sweep(parent string) {
	left, err := filepath.Glob(filepath.Join(parent, groupPrefix+"[1-9]*"))
	if err != nil {
		return // the parent has a name that is a pattern: it stays
	}
	for _, group := range left {
		pid := strings.TrimPrefix(filepath.Base(group), groupPrefix)
		if _, err := os.Stat(filepath.Join("/proc", pid)); errors.Is(err, os.ErrNotExist) {
			_ = os.Remove(group) // empty, or not ours
		}
	}
}

// enterGroup makes a group of at most maxProcesses, with a process in it.
func enterGroup(group string, pid int) error {
	if err := os.Mkdir(group, 0o755); err != nil {
		return err
	}
	err := write(filepath.Join(group, "pids.max"), maxProcesses)
	if err == nil {
		err = write(filepath.Join(group, "cgroup.procs"), pid)
	}
	if err != nil {
		return errors.Join(err, os.Remove(group))
	}
	return nil
}

// write writes to a file that is there: one that the controller has.
func write(file string, value int) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Itoa(value))
	return errors.Join(err, f.Close())
}

// groups are the directories in which a group with the pids controller may be made,
// the nearest first: our own group, and with cgroup2, where processes are in the
// leaves, those above it (cgroups(7)).
func groups(mountinfo, own string) []string {
	paths := map[string]string{} // by controllers
	for line := range strings.Lines(own) {
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 {
			paths[parts[1]] = parts[2]
		}
	}
	var found []string
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		dash := slices.Index(fields, "-")
		if dash < 6 || dash+3 >= len(fields) {
			continue
		}
		root, at := unescape(fields[3]), unescape(fields[4])
		switch kind, options := fields[dash+1], strings.Split(fields[dash+3], ","); {
		case kind == "cgroup" && slices.Contains(options, "pids"):
			for controllers, path := range paths {
				if slices.Contains(strings.Split(controllers, ","), "pids") {
					found = append(found, below(at, root, path))
				}
			}
		case kind == "cgroup2":
			for dir := below(at, root, paths[""]); ; dir = filepath.Dir(dir) {
				found = append(found, dir)
				if dir == at || len(dir) <= len(at) {
					break
				}
			}
		}
	}
	return found
}

// below is where a group is, of which the mount at a place shows what is below root.
func below(at, root, path string) string {
	rest, err := filepath.Rel(root, path)
	if err != nil || strings.HasPrefix(rest, "..") {
		return at
	}
	return filepath.Join(at, rest)
}
