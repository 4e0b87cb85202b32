package shim

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// machine holds what the filter has to know of an architecture: its own way to
// make system calls, by the kernel's tables.
type machine struct {
	// arch is the audit architecture (seccomp(2)). Calls by any other, those of
	// 32-bit programs say, have other numbers.
	arch uint32
	// x32 is the bit that tells the calls of another ABI of the same
	// architecture; 0 where there is none.
	x32 uint32
	// The numbers of calls whose arguments are looked at.
	socket, clone, seccomp uint32
	// lastOld is the last number below those that all architectures share.
	lastOld uint32
}

// machines has those that there are builds for.
var machines = map[string]machine{
	// 335 and 336 (uretprobe, uprobe) are made by the kernel's own trampolines,
	// where somebody on the node watches a program.
	"amd64": {arch: unix.AUDIT_ARCH_X86_64, x32: 0x40000000, socket: 41, clone: 56, seccomp: 317, lastOld: 336},
	"arm64": {arch: unix.AUDIT_ARCH_AARCH64, socket: 198, clone: 220, seccomp: 277, lastOld: 294},
}

const (
	// firstShared and lastKnown are the calls that have the same number
	// everywhere and that runner/trace has names for: up to those of Linux 6.1
	// (set_mempolicy_home_node), which are those that strace 6.1 can print.
	firstShared = 424
	lastKnown   = 450
	// noCall is the number of a call that the tracer has refused.
	noCall = 0xffffffff
)

// The offsets of struct seccomp_data. The low half of an argument comes first on
// both architectures, and is all that the calls in question look at.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetFirst  = 16
	offsetSecond = 24
)

// Confine takes from the calling thread's process, and from every process that
// it starts, the calls by which they could do something that the tracer does not
// see. no_new_privs has to be set, and the caller has locked the thread.
//
// Killed for (SIGSYS, the whole process):
//   - any call of another ABI (int 0x80, x32), whose numbers mean other calls;
//   - clone with CLONE_UNTRACED, whose child no tracer follows;
//   - seccomp with a listener: a call that the listener lets go on is not
//     reported to a tracer that works by RET_TRACE (seccomp(2));
//   - a socket of AF_VSOCK: such sockets belong to no network namespace
//     (vsock(7)), so what closes the network does not close them.
//
// It kills where an error would do to refuse, because it must be seen: an error
// goes before the trace that a tracer's filter asks for (seccomp(2)), while a
// process that was killed by SIGSYS is always in the trace. No other filter can
// take precedence. No runtime makes one of these calls.
//
// As if the kernel did not have them (ENOSYS): the numbers that are newer than
// the tracer. Libraries try such calls and do without (glibc its fchmodat2), so
// that this must neither kill nor be a finding; and nothing has come of it.
//
// Everything else that is refused is refused by the tracer (runner/trace,
// refused), which sees it and its arguments: io_uring, ptrace, and clone3, whose
// flags lie in memory where no filter can look.
func Confine() error {
	m, ok := machines[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("confine the server: no filter for %s", runtime.GOARCH)
	}
	filter := m.filter()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]} //nolint:gosec // a few dozen
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	runtime.KeepAlive(filter)
	if errors.Is(err, unix.EINVAL) {
		return errors.New("confine the server: the kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)")
	}
	if err != nil {
		return fmt.Errorf("confine the server: %w", err)
	}
	return nil
}

// filter is the program.
func (m machine) filter() []unix.SockFilter {
	const kill, allow = unix.SECCOMP_RET_KILL_PROCESS, unix.SECCOMP_RET_ALLOW
	unknown := end(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))
	program := []unix.SockFilter{
		load(offsetArch), unless(unix.BPF_JEQ, m.arch, 1), skip(1), end(kill),
		load(offsetNumber), unless(unix.BPF_JEQ, noCall, 1), end(allow),
	}
	if m.x32 != 0 {
		program = append(program, unless(unix.BPF_JSET, m.x32, 1), end(kill))
	}
	program = append(program, when(m.socket, load(offsetFirst), unless(unix.BPF_JEQ, unix.AF_VSOCK, 1), end(kill), end(allow))...)
	program = append(program, when(m.clone, load(offsetFirst), unless(unix.BPF_JSET, unix.CLONE_UNTRACED, 1), end(kill), end(allow))...)
	program = append(program, when(m.seccomp,
		load(offsetFirst), unless(unix.BPF_JEQ, unix.SECCOMP_SET_MODE_FILTER, 3),
		load(offsetSecond), unless(unix.BPF_JSET, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, 1), end(kill), end(allow))...)
	return append(program,
		unless(unix.BPF_JGT, lastKnown, 1), unknown,
		unless(unix.BPF_JGT, m.lastOld, 3), unless(unix.BPF_JGE, firstShared, 1), skip(1), unknown,
		end(allow))
}

// when decides about one call, whose number is loaded; for others the number
// stays loaded.
func when(number uint32, block ...unix.SockFilter) []unix.SockFilter {
	return append([]unix.SockFilter{unless(unix.BPF_JEQ, number, len(block))}, block...)
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// unless skips instructions when the test of what is loaded fails.
func unless(test uint16, value uint32, skip int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, Jf: uint8(skip), K: value} //nolint:gosec // a few
}

func skip(count uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: count}
}

func end(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}
