package trace

import "bytes"

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
	// bytes: it moves bytes through the descriptor that is its first argument.
	bytes bool
}

// specs holds every traced call. Built once; read only.
var specs = newSpecs()

func newSpecs() map[string]*spec {
	all := make(map[string]*spec, len(traced))
	for _, name := range traced {
		all[name] = &spec{name: name}
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
	for _, name := range []string{"write", "writev", "pwrite64", "pwritev", "pwritev2",
		"read", "readv", "pread64", "preadv", "preadv2"} {
		all[name].bytes = true
	}
	set((*decoder).move, "sendfile", "sendfile64", "splice", "tee", "vmsplice")
	set((*decoder).socket, "socket")
	set((*decoder).connect, "connect")
	set((*decoder).bind, "bind")
	set((*decoder).listen, "listen")
	set((*decoder).signal, "kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
	set((*decoder).signalDescriptor, "pidfd_send_signal")
	set((*decoder).prctl, "prctl")
	set((*decoder).seccomp, "seccomp")
	set((*decoder).unshare, "unshare")
	set((*decoder).evade, "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd",
		"io_uring_setup", "io_uring_enter", "io_uring_register", "io_submit",
		"mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen",
		"fsconfig", "fsmount", "fspick", "mount_setattr", "setns",
		"bpf", "perf_event_open", "init_module", "finit_module", "delete_module",
		"kexec_load", "kexec_file_load", "clock_settime", "settimeofday", "reboot", "swapon",
		"acct", "quotactl", "syslog", "iopl", "ioperm", "fanotify_init")
	return all
}

func (d *decoder) evade(c *call) { d.emit(c, Event{Op: OpEvade}) }

// clone evades where it leaves a namespace or the tracer.
func (d *decoder) clone(c *call) {
	d.cloned(c)
	if !c.task.inside {
		return
	}
	for _, a := range c.args {
		if flags, ok := cutFlags(a); ok && leaves(flags) {
			d.evade(c)
			return
		}
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

func (d *decoder) exec(c *call) {
	pathArg, argvArg := 0, 1
	var dir []byte
	if c.name == "execveat" {
		dir, pathArg, argvArg = c.arg(0), 1, 2
	}
	path, kind := c.resolve(dir, c.arg(pathArg))
	worked := !c.failed()
	if worked && !c.task.inside && path != d.cfg.Shim {
		c.task.inside, c.task.sure = true, true
		if d.tasks.root == 0 {
			d.tasks.root, d.stats.Begun = c.task.group, true
		}
	}
	if !c.task.inside {
		return
	}
	if kind == textPointer && d.blind(c) {
		return
	}
	d.emit(c, Event{Op: OpExec, Path: path, Argv: argv(c.arg(argvArg))})
}

// argv decodes a program's arguments, within the bounds of Event.Argv.
func argv(array []byte) []string {
	const most, longest = 64, 1024
	var words []string
	for _, e := range elements(array) {
		if len(words) == most {
			break
		}
		word, kind := text(e)
		if kind == textWhole || kind == textCut {
			words = append(words, string(word[:min(len(word), longest)]))
		}
	}
	return words
}

// prctl evades when it makes the process unreadable: strace without CAP_SYS_PTRACE
// could no longer follow its pointers.
func (d *decoder) prctl(c *call) {
	if string(c.arg(0)) == "PR_SET_DUMPABLE" && string(c.arg(1)) == "SUID_DUMP_DISABLE" {
		d.evade(c)
	}
}

// seccomp evades when the filter has a listener: a call that the listener lets
// go on is one that the tracer's own filter does not report (seccomp(2),
// SECCOMP_USER_NOTIF_FLAG_CONTINUE; a notification goes before a trace).
func (d *decoder) seccomp(c *call) {
	if hasFlag(c.arg(1), "SECCOMP_FILTER_FLAG_NEW_LISTENER") {
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
