package trace

import (
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// traced lists the system calls to trace, by purpose. It is wide on purpose:
// what is not traced cannot be judged. Each is passed to strace as "?name",
// which means "if this architecture has it".
var traced = []string{
	// Files by name.
	"open", "openat", "openat2", "creat", "name_to_handle_at", "open_by_handle_at",
	"readlink", "readlinkat", "chdir", "fchdir", "inotify_add_watch", "fanotify_init",
	// Changes to files.
	"rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat",
	"symlink", "symlinkat", "link", "linkat", "chmod", "fchmod", "fchmodat", "fchmodat2",
	"chown", "fchown", "lchown", "fchownat", "truncate", "ftruncate", "fallocate",
	"mknod", "mknodat", "setxattr", "lsetxattr", "fsetxattr", "setxattrat",
	"removexattr", "lremovexattr", "fremovexattr", "removexattrat",
	"utime", "utimes", "futimesat", "utimensat",
	// Memory that is a file: starts of Node and Python become 1 to 3 % slower by
	// it (measured), a run that allocates without end 5 %.
	"mmap",
	// Bytes: the conversation on stdin and stdout, and what sockets carry.
	"read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev",
	"preadv2", "pwritev2", "sendfile", "sendfile64", "splice", "tee", "vmsplice", "copy_file_range",
	// Sockets.
	"socket", "socketpair", "connect", "bind", "listen", "accept", "accept4",
	"sendto", "sendmsg", "sendmmsg", "recvfrom", "recvmsg", "recvmmsg",
	// Processes.
	"execve", "execveat", "fork", "vfork", "clone", "clone3", "setsid",
	"kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
	"pidfd_open", "pidfd_getfd", "pidfd_send_signal", "kcmp", "prctl", "seccomp", "personality",
	"setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups",
	"setfsuid", "setfsgid", "capset", "keyctl", "add_key", "request_key",
	// Descriptors.
	"dup", "dup2", "dup3", "memfd_create", "memfd_secret",
	// Ways around the tracer, and what only administrators do.
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
	"io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit",
	"mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen",
	"fsconfig", "fsmount", "fspick", "mount_setattr", "unshare", "setns",
	"bpf", "perf_event_open", "userfaultfd", "init_module", "finit_module", "delete_module",
	"kexec_load", "kexec_file_load", "clock_settime", "settimeofday", "reboot", "swapon",
	"swapoff", "acct", "quotactl", "quotactl_fd", "sethostname", "setdomainname", "syslog", "iopl", "ioperm", "modify_ldt",
}

// refused lists the calls that the tracer fails in the server's place, because
// they would work behind its back: io_uring and AIO as if the kernel had none,
// which every library copes with; clone3 likewise, for libc then takes clone,
// whose flags the filter of the shim can read; the others as forbidden. Keyrings
// belong to no namespace (keyrings(7)): they are the user's own. The rest are what
// container engines refuse to a container without capabilities, so that a server meets
// the same refusals on the command line as in a Pod under RuntimeDefault. Of those, mount,
// umount2, pivot_root and mount_setattr are left to the kernel, which demands a capability
// for them: the stages of the sandbox are traced, and need them.
//
// It is the tracer that refuses them, and not that filter (runner/shim,
// Confine), for an error of a filter would go unseen.
var refused = []struct {
	names []string
	errno syscall.Errno
}{
	{[]string{"io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit", "clone3"}, syscall.ENOSYS},
	{[]string{
		"ptrace", "process_vm_readv", "process_vm_writev", "keyctl", "add_key", "request_key",
		"open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick",
		"unshare", "setns", "bpf", "perf_event_open", "userfaultfd", "open_by_handle_at", "fanotify_init",
		"init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff",
		"acct", "quotactl", "quotactl_fd", "clock_settime", "settimeofday", "syslog", "iopl", "ioperm",
	}, syscall.EPERM},
}

// Calls are the names of the calls to trace; not every architecture has each.
func Calls() []string { return slices.Clone(traced) }

// Refused are the calls that the tracer fails in the server's place, and how.
func Refused() map[string]syscall.Errno {
	all := map[string]syscall.Errno{}
	for _, r := range refused {
		for _, name := range r.names {
			all[name] = r.errno
		}
	}
	return all
}

// optional joins names the way strace's -e takes them: "?a,?b".
func optional(names []string) string { return "?" + strings.Join(names, ",?") }

// straceFlags are the arguments common to attaching and wrapping; see
// strace(1) of 6.1.
//
//   - -f follows children and threads; with -o every line begins with a pid.
//   - -q drops the messages of attaching, and keeps "+++ exited" lines: they
//     tell that a process is gone, and so, when one is missing, that the tracer
//     went first. "killed" lines are only printed for signals in the set of -e
//     signal; those left out are ignored by default and merely noise.
//   - -yy resolves descriptors, -ttt -T give entry and duration in microseconds.
//   - -e abbrev prints the environment of a program in full, and nothing else.
//   - -s cuts strings. --decode-pids translates clone's result when the server
//     has a PID namespace of its own.
func straceFlags(file string) []string {
	args := []string{
		"-f", "-q", "-yy", "-ttt", "-T", "-s", strconv.Itoa(MaxData), "--decode-pids=pidns",
		"-e", "abbrev=!execve,execveat",
		"-e", "signal=!CHLD,URG,WINCH,CONT",
		"-e", "trace=" + optional(traced),
	}
	for _, r := range refused {
		args = append(args, "-e", "inject="+optional(r.names)+":error="+unix.ErrnoName(r.errno))
	}
	return append(args, "-o", file)
}
