package shim

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// abi is one of the ways to make a system call on a machine: the audit
// architecture (seccomp(2)) and what of it can make a socket.
type abi struct {
	arch, socket uint32
	// socketcall is the call that has its arguments in memory, where a filter
	// cannot see them (socketcall(2)); 0 where there is none.
	socketcall uint32
}

// abis are those of each architecture that there are builds for, with the
// numbers of the kernel's tables. The x32 calls of x86-64 differ by a bit.
var abis = map[string][]abi{
	"amd64": {
		{arch: unix.AUDIT_ARCH_X86_64, socket: 41},
		{arch: unix.AUDIT_ARCH_I386, socket: 359, socketcall: 102},
	},
	"arm64": {
		{arch: unix.AUDIT_ARCH_AARCH64, socket: 198},
		{arch: unix.AUDIT_ARCH_ARM, socket: 281},
	},
}

const (
	// x32 is what tells the calls of x32 from those of x86-64.
	x32 = 0x40000000
	// makeSocket is SYS_SOCKET of linux/net.h.
	makeSocket = 1
)

// The offsets of struct seccomp_data. The low half of the first argument comes
// first on both architectures, and is all that the kernel looks at: the domain
// is an int.
const (
	offsetNumber   = 0
	offsetArch     = 4
	offsetArgument = 16
)

// ForbidVsock makes a socket of AF_VSOCK the end of the calling thread's process,
// and of every process that it starts: such sockets belong to no network
// namespace (vsock(7)), so what closes the network does not close them, and they
// lead to the hypervisor. no_new_privs has to be set, and the caller has locked
// the thread.
//
// It kills, where an error would do to refuse, because it must be seen: an error
// goes before the trace that strace's own filter asks for (seccomp(2)), while a
// process that was killed by SIGSYS is always in the trace. No other filter can
// take precedence. A socketcall(2) that makes a socket is killed whatever its
// domain: only 32-bit programs for x86 make it, and there is no telling.
func ForbidVsock() error {
	known, ok := abis[runtime.GOARCH]
	if !ok {
		return fmt.Errorf("forbid AF_VSOCK: no filter for %s", runtime.GOARCH)
	}
	filter := vsockFilter(known)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]} //nolint:gosec // a few dozen
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	runtime.KeepAlive(filter)
	if errors.Is(err, unix.EINVAL) {
		return errors.New("forbid AF_VSOCK: the kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)")
	}
	if err != nil {
		return fmt.Errorf("forbid AF_VSOCK: %w", err)
	}
	return nil
}

// vsockFilter is the program, one block for each ABI. A call by an ABI that is
// not known is not let through.
func vsockFilter(known []abi) []unix.SockFilter {
	program := []unix.SockFilter{load(offsetArch)}
	for _, a := range known {
		block := a.block()
		program = append(program, unlessEqual(a.arch, len(block)))
		program = append(program, block...)
	}
	return append(program, end(unix.SECCOMP_RET_KILL_PROCESS))
}

// block decides about a call of one ABI.
func (a abi) block() []unix.SockFilter {
	block := []unix.SockFilter{load(offsetNumber)}
	if a.arch == unix.AUDIT_ARCH_X86_64 {
		block = append(block, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: ^uint32(x32)})
	}
	block = append(block, forbid(a.socket, unix.AF_VSOCK)...)
	if a.socketcall != 0 {
		block = append(block, forbid(a.socketcall, makeSocket)...)
	}
	return append(block, end(unix.SECCOMP_RET_ALLOW))
}

// forbid ends the process that makes the call, whose number is loaded, with the
// given first argument; else the number stays loaded or the call is allowed.
func forbid(number, argument uint32) []unix.SockFilter {
	block := []unix.SockFilter{
		load(offsetArgument),
		unlessEqual(argument, 1),
		end(unix.SECCOMP_RET_KILL_PROCESS),
		end(unix.SECCOMP_RET_ALLOW),
	}
	return append([]unix.SockFilter{unlessEqual(number, len(block))}, block...)
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// unlessEqual skips instructions when what is loaded is not value.
func unlessEqual(value uint32, skip int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: uint8(skip), K: value} //nolint:gosec // a few
}

func end(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}
