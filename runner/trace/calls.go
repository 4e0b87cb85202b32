package trace

import (
	"bytes"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// spec says how a system call is understood.
type spec struct {
	syscalls.Call
	// handle makes the events; nil for calls that are traced only for people
	// who read the trace.
	handle func(*decoder, *call)
	// bit is the call's place in Made; -1 for none.
	bit int
}

// handlers make the events, by the operation of a call.
var handlers = map[syscalls.Op]func(*decoder, *call){
	syscalls.Open: (*decoder).open, syscalls.Look: (*decoder).look, syscalls.Map: (*decoder).mapped, syscalls.Memory: (*decoder).memory,
	syscalls.Write: (*decoder).change, syscalls.Delete: (*decoder).change, syscalls.Rename: (*decoder).change,
	syscalls.Link: (*decoder).change, syscalls.Attribute: (*decoder).change,
	syscalls.Clone: (*decoder).clone, syscalls.Exec: (*decoder).exec, syscalls.Chdir: (*decoder).chdir,
	syscalls.Session: (*decoder).setsid, syscalls.Credential: (*decoder).credential, syscalls.Duplicate: (*decoder).dup,
	syscalls.Output: (*decoder).send, syscalls.Send: (*decoder).send,
	syscalls.Input: (*decoder).receive, syscalls.Receive: (*decoder).receive, syscalls.Move: (*decoder).move,
	syscalls.Socket: (*decoder).socket, syscalls.Pair: (*decoder).paired, syscalls.Connect: (*decoder).connect,
	syscalls.Bind: (*decoder).bind, syscalls.Listen: (*decoder).listen, syscalls.Accept: (*decoder).accept,
	syscalls.Kill: (*decoder).signal, syscalls.Prctl: (*decoder).prctl, syscalls.Seccomp: (*decoder).seccomp,
	syscalls.Unshare: (*decoder).unshare, syscalls.Evade: (*decoder).evade,
}

// specs has every traced call by name; counted has the names that Made counts. Both
// are read only.
var specs, counted = newSpecs()

func newSpecs() (all map[string]*spec, counted []string) {
	all = make(map[string]*spec, len(syscalls.Table))
	for _, c := range syscalls.Table {
		s := &spec{Call: c, handle: handlers[c.Op], bit: -1}
		if c.Counted() {
			s.bit, counted = len(counted), append(counted, c.Name)
		}
		all[c.Name] = s
	}
	return all, counted
}

// lineage reports whether the call matters outside the server's tree too.
func (s *spec) lineage() bool {
	return s.Op == syscalls.Clone || s.Op == syscalls.Exec || s.Op == syscalls.Chdir
}

// stores reports whether the call moves bytes out of the process.
func (s *spec) stores() bool {
	return s.Op == syscalls.Output || s.Op == syscalls.Send || s.Op == syscalls.Move
}

func (d *decoder) evade(c *call) { d.emit(c, Event{Op: OpEvade}) }

// clone makes an evasion of a clone that leaves a namespace or the tracer.
func (d *decoder) clone(c *call) {
	leaving := false
	for _, a := range c.args {
		flags, ok := cutFlags(a)
		leaving = leaving || ok && leaves(flags)
	}
	if leaving {
		c.doubt()
	}
	if leaving && c.killed() {
		return
	}
	d.cloned(c)
	if leaving && c.task.inside {
		d.evade(c)
	}
}

func (d *decoder) unshare(c *call) {
	if leaves(c.arg(0)) {
		d.evade(c)
	}
}

func leaves(flags []byte) bool {
	return bytes.Contains(flags, []byte("CLONE_NEW")) || hasFlag(flags, "CLONE_UNTRACED")
}

// hiding has the options of prctl that make a process unreadable (strace without
// CAP_SYS_PTRACE could not follow its pointers), let others trace it, change what /proc
// says of it, or catch its own calls before they are made; and the second argument with
// which they do not.
var hiding = map[string]string{
	"PR_SET_DUMPABLE":              "SUID_DUMP_USER",
	"PR_SET_PTRACER":               "",
	"PR_SET_MM":                    "",
	"PR_SET_SYSCALL_USER_DISPATCH": "PR_SYS_DISPATCH_OFF",
}

func (d *decoder) prctl(c *call) {
	if harmless, ok := hiding[string(c.arg(0))]; ok && string(c.arg(1)) != harmless {
		d.evade(c)
	}
}

// credential makes the event of a change of ids; none if all arguments are -1 (unchanged).
func (d *decoder) credential(c *call) {
	if c.failed() {
		return
	}
	for _, a := range c.args {
		if string(a) != "-1" {
			d.emit(c, Event{Op: OpCredential})
			return
		}
	}
}

// seccomp makes an evasion of a filter with a listener: the tracer's own filter does
// not report calls that the listener lets continue (seccomp(2),
// SECCOMP_USER_NOTIF_FLAG_CONTINUE; a notification takes precedence over a trace).
func (d *decoder) seccomp(c *call) {
	c.doubt()
	if hasFlag(c.arg(1), "SECCOMP_FILTER_FLAG_NEW_LISTENER") && !c.killed() {
		d.evade(c)
	}
}

// signal makes an evasion of a signal to a process that is not the server's. Signal
// 0 only asks whether the process exists (servers watch their parent this way), and
// an ended process belongs to nobody. The process may be named by "3<pid:7>".
func (d *decoder) signal(c *call) {
	process := c.arg(0)
	if c.Args[0] == syscalls.Descriptor {
		_, name := descriptor(process)
		if name == nil && (c.unreturned() || c.result.errno == "EBADF") {
			return // killed before strace looked, with the arguments of another task for its own: the kernel makes no such call
		}
		process, _ = bytes.CutPrefix(name, []byte("pid:"))
	}
	pid, signal := translated(process), c.kind(syscalls.Signal)
	if string(signal) == "0" || c.result.errno == "ESRCH" || c.result.errno == "EINVAL" || pid == 0 {
		return
	}
	if pid < -1 {
		pid = -pid // the process group that this process leads
	}
	if t := d.tasks.known[pid]; t != nil && t.inside {
		return
	}
	if _, ok := d.tasks.ended.get(pid); ok {
		return
	}
	d.evade(c)
}

// detail returns the call for people; a long one is cut within its arguments.
func (c *call) detail() string {
	const ellipsis = " ... "
	head := make([]byte, 0, maxDetail)
	head = append(append(head, c.Name...), '(')
	result := c.result.printed
	if room := maxDetail / 2; len(result) > room {
		result = result[:room]
	}
	room := maxDetail - len(head) - len(") = ") - len(result)
	if text := bytes.TrimSpace(c.text); len(text) <= room {
		head = append(head, text...)
	} else {
		head = append(append(head, text[:room-len(ellipsis)]...), ellipsis...)
	}
	return string(append(append(head, ") = "...), result...))
}
