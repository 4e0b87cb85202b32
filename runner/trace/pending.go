package trace

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxWatched bounds the processes that Pending looks at.
const maxWatched = 256

// Pending looks at a busy server several times, so that one that polls every few milliseconds
// is found waiting in between.
const (
	looks        = 5
	lookInterval = 2 * time.Millisecond
)

// Pending reports whether a process of the server waits for a timer in its first
// thread, as an event loop does. wait is the shortest of these waits when it began; 0
// if unknown. (Node always has a timer of some seconds, for giving back memory.) It
// does not show in the trace: it only reads which call a process is in. A server that
// is busy in every look may have a timer, and counts as one that has.
func (s *Session) Pending() (wait time.Duration, pending bool) {
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return 0, false
	}
	for range looks {
		working := false
		if wait, pending, working = s.look(self); pending || !working {
			return wait, pending
		}
		time.Sleep(lookInterval)
	}
	return 0, true
}

// look is one look of Pending; working reports whether a process was busy. self is our own
// program.
func (s *Session) look(self os.FileInfo) (wait time.Duration, pending, working bool) {
	for _, pid := range s.company.others(s.root, self) {
		working = working || atWork(pid)
		call, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
		if err != nil {
			continue
		}
		working = working || strings.HasPrefix(string(call), "running") // it has gone on since
		if long, ok := timed(string(call)); ok && (!pending || long < wait) {
			wait, pending = long, true
		}
	}
	return wait, pending, working
}

// Running reports whether a process of the server runs: one that is neither our own program nor strace.
func (s *Session) Running() bool {
	var around []os.FileInfo
	for _, program := range []string{"/proc/self/exe", straceProgram()} {
		if exe, err := os.Stat(program); err == nil {
			around = append(around, exe)
		}
	}
	return slices.ContainsFunc(descendants(s.root), func(pid int) bool {
		exe, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid)) // an error: it has ended
		return err == nil && !slices.ContainsFunc(around, func(ours os.FileInfo) bool { return os.SameFile(exe, ours) })
	})
}

func straceProgram() string {
	program, _ := exec.LookPath("strace") // without it, our own tracer is in use
	return program
}

// atWork reports whether the first thread of a process runs, or is held by its tracer, by the
// state in /proc/PID/stat (proc_pid_stat(5)), which follows the name in brackets.
func atWork(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, ok := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	return ok && state != "" && strings.Contains("RDt", state[:1])
}

// descendants returns root and the processes below it, about maxWatched at most.
func descendants(root int) []int {
	all := []int{root}
	for i := 0; i < len(all) && len(all) < maxWatched; i++ {
		all = append(all, childrenOf(all[i])...)
	}
	return all[:min(len(all), maxWatched)]
}

// company remembers the processes of our own program: the children of those of their threads that have some, by the file in
// /proc. Our program starts nothing while the server runs, so that other threads get children only when these lose theirs.
// To look at all threads of all our processes after each call would take longer than all the rest.
type company map[int]map[string]string

// others returns the processes below root that run another program than our own, about maxWatched at most.
func (c company) others(root int, self os.FileInfo) (all []int) {
	for queue := []int{root}; len(queue) > 0 && len(all) < maxWatched; queue = queue[1:] {
		pid := queue[0]
		exe, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
		if err == nil && os.SameFile(exe, self) {
			queue = append(queue, c.childrenOf(pid)...)
			continue
		}
		all = append(all, pid)
		delete(c, pid)
		queue = append(queue, childrenOf(pid)...)
	}
	return all
}

// childrenOf returns the children of a process of our own program.
func (c company) childrenOf(pid int) []int {
	threads, known := c[pid]
	for file, children := range threads {
		now, err := os.ReadFile(file)
		if known = err == nil && string(now) == children; !known {
			break
		}
	}
	if !known {
		threads = parents(pid)
		if first := childrenFile(pid, strconv.Itoa(pid)); len(threads) > 0 && threads[first] == "" {
			threads[first] = "" // the first thread of an init gets the orphans
		}
		c[pid] = threads
	}
	return pids(threads)
}

// childrenOf returns the children of all threads of a process; none if it has ended.
func childrenOf(pid int) []int { return pids(parents(pid)) }

// childrenFile lists the children of a thread (proc_tid_children(5)).
func childrenFile(pid int, thread string) string {
	return fmt.Sprintf("/proc/%d/task/%s/children", pid, thread)
}

// parents returns the children of the threads of a process that have some, by the file that lists them.
func parents(pid int) map[string]string {
	found := map[string]string{}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return found
	}
	for _, t := range tasks {
		file := childrenFile(pid, t.Name())
		if children, err := os.ReadFile(file); err == nil && len(children) > 0 {
			found[file] = string(children)
		}
	}
	return found
}

func pids(threads map[string]string) (all []int) {
	for _, children := range threads {
		for word := range strings.FieldsSeq(children) {
			if pid, err := strconv.Atoi(word); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// milliseconds and pointers have, for the calls in which event loops wait, the index
// of the timeout: a number, negative for no timeout, or a pointer to a structure, 0
// for none.
var (
	milliseconds = map[int]int{unix.SYS_EPOLL_PWAIT: 3}
	pointers     = map[int]int{unix.SYS_EPOLL_PWAIT2: 3, unix.SYS_PPOLL: 2, unix.SYS_PSELECT6: 4}
)

// timed reports whether the call of /proc/PID/syscall (proc_pid_syscall(5): the number
// of the blocking call and its arguments, in hexadecimal) has a timeout. The time in
// a structure is not known.
func timed(call string) (wait time.Duration, ok bool) {
	words := strings.Fields(call)
	if len(words) < 7 {
		return 0, false // "running"
	}
	number, err := strconv.Atoi(words[0])
	if err != nil {
		return 0, false
	}
	argument := func(i int) uint64 {
		value, err := strconv.ParseUint(words[i+1], 0, 64)
		if err != nil {
			return 0
		}
		return value
	}
	if i, ok := milliseconds[number]; ok {
		ms := int32(uint32(argument(i))) //nolint:gosec // an int of C
		return time.Duration(max(ms, 0)) * time.Millisecond, ms > 0
	}
	i, ok := pointers[number]
	return 0, ok && argument(i) != 0
}
