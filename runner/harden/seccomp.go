// Package harden takes from the runner what it does not need, before it reads the first
// byte that a server controls. It is the second line behind memory safety: a fault in a
// parser must not become a way to the node.
package harden

import (
	"fmt"
	"runtime"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/seccomp"
)

// refused are the system calls that neither the runner nor its tracer makes: those that
// get at files or processes past names and permissions, at other namespaces, or at the
// kernel itself.
var refused = []uint32{
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, openTreeAttr, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
	unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_PROCESS_VM_WRITEV, unix.SYS_MEMFD_CREATE, unix.SYS_EXECVEAT,
}

// openTreeAttr is open_tree_attr(2) of Linux 6.15, with one number on all architectures.
const openTreeAttr = 467

// needless lists those that the runner makes only to trace.
var needless = []uint32{unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PIDFD_GETFD, unix.SYS_EXECVE}

// namespaces are the flags of clone(2) by which a process gets namespaces of its own.
const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// Tracing refuses with EPERM, for all threads and for good, the system calls that a runner
// that traces does not make. The tracer that it starts is held to that, too.
func Tracing() error { return install(refused) }

// Talking does so for a runner that traces nothing, and starts no program.
func Talking() error { return install(append(append([]uint32{}, refused...), needless...)) }

func install(calls []uint32) error {
	program, err := filter(calls)
	if err != nil {
		return fmt.Errorf("harden the runner: %w", err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("harden the runner: set no_new_privs: %w", err)
	}
	if err := seccomp.Install(program, unix.SECCOMP_FILTER_FLAG_TSYNC); err != nil {
		return fmt.Errorf("harden the runner: %w", err)
	}
	return nil
}

func filter(calls []uint32) ([]bpf.Instruction, error) {
	program, err := seccomp.Native(runtime.GOARCH)
	if err != nil {
		return nil, err
	}
	refuse := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	// Its flags are in memory, where no filter looks; who gets ENOSYS makes a clone instead.
	program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SYS_CLONE3, SkipFalse: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)})
	for _, number := range calls {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: number, SkipFalse: 1}, refuse)
	}
	return append(program,
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_CLONE, SkipTrue: 3},
		seccomp.Load(seccomp.OffsetArgument), bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: namespaces, SkipTrue: 1}, refuse,
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	), nil
}
