package shim

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// signalDescendants sends a signal to every process below this one. One pass of
// SIGKILL is not enough against a growing tree: the caller repeats it until nothing
// is left. It never touches a process that does not descend from us, whatever its
// name and owner.
func signalDescendants(signal syscall.Signal) {
	for _, pid := range descendants(os.Getpid(), parents()) {
		_ = syscall.Kill(pid, signal) // gone already, most likely
	}
}

// descendants returns all pids whose chain of parents leads to root.
func descendants(root int, parents map[int]int) []int {
	children := map[int][]int{}
	for pid, parent := range parents {
		children[parent] = append(children[parent], pid)
	}
	var all []int
	for queue := children[root]; len(queue) > 0; queue = queue[1:] {
		all = append(all, queue[0])
		queue = append(queue, children[queue[0]]...)
		delete(children, queue[0])
	}
	return all
}

// parents maps each process that /proc shows to its parent.
func parents() map[int]int {
	found := map[int]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return found
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // ended meanwhile
		}
		if parent, ok := parentOf(stat); ok {
			found[pid] = parent
		}
	}
	return found
}

// parentOf reads the fourth field of /proc/PID/stat (proc(5)). The second is the
// program's name in parentheses, which may itself contain parentheses and spaces:
// the last parenthesis ends it.
func parentOf(stat []byte) (int, bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, false
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[1])
	return parent, err == nil && parent >= 0
}
