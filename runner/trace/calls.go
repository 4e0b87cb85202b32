package trace

import (
	"bytes"
	"slices"
)

// spec says how a system call is understood.
type spec struct {
	name string
	// handle makes the events; nil for calls that are traced only for a
	// human reader of the trace.
	handle func(*decoder, *call)
	// lineage: it matters outside the server's tree too.
	lineage bool
	// clones: it makes a process or thread.
	clones bool
	// bytes: it moves bytes through the descriptor that is its first argument,
	// which may be a file; stores: out of the process.
	bytes, stores bool
	// needs says what the arguments hold when the call matters; nil: anything.
	needs []byte
	// bit is its place in Made; -1 for none.
	bit int
}

// specs holds every traced call. Built once; read only.
var specs = newSpecs()

func newSpecs() map[string]*spec {
	all := make(map[string]*spec, len(traced))
	for _, name := range traced {
		all[name] = &spec{name: name, bit: slices.Index(reported, name)}
	}
	set := func(handle func(*decoder, *call), names ...string) {
		for _, name := range names {
			all[name].handle = handle
		}
	}
	for name, shape := range opens {
		set(shape.open, name)
	}
	for name, shape := range changes {
		set(shape.change, name)
	}
	set((*decoder).clone, "clone", "clone3", "fork", "vfork")
	for _, name := range []string{"clone", "clone3", "fork", "vfork"} {
		all[name].clones, all[name].lineage = true, true
	}
	set((*decoder).exec, "execve", "execveat")
	set((*decoder).chdir, "chdir", "fchdir")
	for _, name := range []string{"execve", "execveat", "chdir", "fchdir"} {
		all[name].lineage = true
	}
	set((*decoder).send, "write", "writev", "pwrite64", "pwritev", "pwritev2", "sendto", "sendmsg", "sendmmsg")
	set((*decoder).receive, "read", "readv", "pread64", "preadv", "preadv2", "recvfrom", "recvmsg", "recvmmsg")
	for _, name := range []string{"read", "readv", "pread64", "preadv", "preadv2"} {
		all[name].bytes = true
	}
	for _, name := range []string{"write", "writev", "pwrite64", "pwritev", "pwritev2"} {
		all[name].bytes, all[name].stores = true, true
	}
	for _, name := range []string{"sendto", "sendmsg", "sendmmsg", "sendfile", "sendfile64", "splice", "tee", "vmsplice"} {
		all[name].stores = true
	}
	set((*decoder).move, "sendfile", "sendfile64", "splice", "tee", "vmsplice", "copy_file_range")
	set((*decoder).mapped, "mmap")
	all["mmap"].needs = []byte("MAP_SHARED")
	set((*decoder).dup, "dup", "dup2", "dup3")
	set((*decoder).memory, "memfd_create", "memfd_secret")
	set((*decoder).credential, "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid",
		"setgroups", "setfsuid", "setfsgid", "capset")
	set((*decoder).socket, "socket")
	set((*decoder).paired, "socketpair")
	set((*decoder).connect, "connect")
	set((*decoder).bind, "bind")
	set((*decoder).listen, "listen")
	set((*decoder).accept, "accept", "accept4")
	set((*decoder).setsid, "setsid")
	set((*decoder).signal, "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
	set((*decoder).signalDescriptor, "pidfd_send_signal")
	set((*decoder).prctl, "prctl")
	set((*decoder).seccomp, "seccomp")
	set((*decoder).unshare, "unshare")
	set((*decoder).evade, "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd",
		"io_uring_setup", "io_uring_enter", "io_uring_register", "io_submit",
		"mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen",
		"fsconfig", "fsmount", "fspick", "mount_setattr", "setns",
		"bpf", "perf_event_open", "userfaultfd", "keyctl", "add_key", "request_key", "init_module", "finit_module", "delete_module",
		"kexec_load", "kexec_file_load", "clock_settime", "settimeofday", "reboot", "swapon", "swapoff",
		"sethostname", "setdomainname", "acct", "quotactl", "quotactl_fd", "syslog", "iopl", "ioperm", "fanotify_init")
	return all
}

func (d *decoder) evade(c *call) { d.emit(c, Event{Op: OpEvade}) }

// clone evades where it leaves a namespace or the tracer.
func (d *decoder) clone(c *call) {
	leaving := false
	for _, a := range c.args {
		flags, ok := cutFlags(a)
		leaving = leaving || ok && leaves(flags)
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

// hiding are the options of prctl, and what the second argument begins with, by
// which a process becomes unreadable (strace without CAP_SYS_PTRACE could no
// longer follow its pointers), lets others trace it, changes what /proc says of
// it, or catches its own calls before they are made.
var hiding = map[string]string{
	"PR_SET_DUMPABLE":              "SUID_DUMP_DISABLE",
	"PR_SET_PTRACER":               "",
	"PR_SET_MM":                    "",
	"PR_SET_SYSCALL_USER_DISPATCH": "PR_SYS_DISPATCH_ON",
}

func (d *decoder) prctl(c *call) {
	if start, ok := hiding[string(c.arg(0))]; ok && bytes.HasPrefix(c.arg(1), []byte(start)) {
		d.evade(c)
	}
}

// credential makes no event of a call that leaves everything as it is (-1).
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

// seccomp evades when the filter has a listener: a call that the listener lets
// go on is one that the tracer's own filter does not report (seccomp(2),
// SECCOMP_USER_NOTIF_FLAG_CONTINUE; a notification goes before a trace).
func (d *decoder) seccomp(c *call) {
	if hasFlag(c.arg(1), "SECCOMP_FILTER_FLAG_NEW_LISTENER") && !c.killed() {
		d.evade(c)
	}
}

// signal evades when it reaches a process that is not the server's. Signal 0
// only asks whether the process is there (servers watch their parent so), and
// what has gone meanwhile was no one's.
func (d *decoder) signal(c *call) {
	signal := c.arg(1)
	if c.name == "tgkill" || c.name == "rt_tgsigqueueinfo" {
		signal = c.arg(2)
	}
	d.signalled(c, translated(c.arg(0)), signal)
}

// signalDescriptor is signal for a process that is named by "3<pid:7>".
func (d *decoder) signalDescriptor(c *call) {
	_, decor := descriptor(c.arg(0))
	pid, _ := bytes.CutPrefix(decor, []byte("pid:"))
	d.signalled(c, translated(pid), c.arg(1))
}

func (d *decoder) signalled(c *call, pid int, signal []byte) {
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
