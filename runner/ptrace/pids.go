package ptrace

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// pid appends the pid that a call names, and our pid of that process where it
// differs: the server has a PID namespace of its own (pid_namespaces(7)).
func (p *printer) pid(b []byte, k *task, pid int) []byte {
	b = strconv.AppendInt(b, int64(pid), 10)
	p.resolvePIDs(k)
	if len(k.pids) < 2 || pid <= 0 {
		return b // ours is the same, or it is a group
	}
	if ours := p.localPID(k, strconv.Itoa(pid)); ours != 0 && ours != pid {
		b = appendTranslated(b, ours)
	}
	return b
}

// resolvePIDs finds the pids of a task, from our namespace to its own, and its own
// namespace. Neither changes.
func (p *printer) resolvePIDs(k *task) {
	if k.pids == nil {
		k.pids, k.space = namespacePIDs(k.pid), string(p.names.target(k.pid, "ns/pid", -1))
	}
}

// localPID returns our pid of the process that a task knows by another; 0 for none.
func (p *printer) localPID(k *task, pid string) int {
	for number, other := range p.tasks {
		p.resolvePIDs(other)
		if other.knownAs(pid, k) {
			return number
		}
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		number, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		other := &task{pid: number}
		p.resolvePIDs(other)
		if other.knownAs(pid, k) {
			return number
		}
	}
	return 0
}

// knownAs reports whether by knows a task by the given pid: in the namespace of by,
// or in one within it. (Of one as deep as that, but elsewhere, only those in it
// can be told.)
func (t *task) knownAs(pid string, by *task) bool {
	depth := len(by.pids)
	return len(t.pids) >= depth && t.pids[depth-1] == pid && (len(t.pids) > depth || t.space == by.space)
}

// namespacePIDs returns the pids of a process, from our namespace to its own
// (proc(5), NSpid).
func namespacePIDs(pid int) []string {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return nil
	}
	_, rest, _ := bytes.Cut(status, []byte("\nNSpid:"))
	line, _, _ := strings.Cut(string(rest), "\n")
	return strings.Fields(line)
}
