// Package seccomp assembles and installs filters of system calls (seccomp(2)): those of
// the shim, of our own tracer, and of the runner for itself.
package seccomp

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The offsets of struct seccomp_data. The low half of an argument, each of which has 8
// bytes, comes first on the architectures that there are builds for.
const (
	OffsetNumber   = 0
	OffsetArch     = 4
	OffsetArgument = 16
)

// architecture says how an architecture makes its own system calls.
type architecture struct {
	// audit names it; calls by any other, those of 32-bit programs say, have other numbers.
	audit uint32
	// x32 is the bit of the calls of another ABI of the same architecture; 0 where there is none.
	x32 uint32
}

// architectures has those that there are builds for.
var architectures = map[string]architecture{
	"amd64": {unix.AUDIT_ARCH_X86_64, 0x40000000},
	"arm64": {unix.AUDIT_ARCH_AARCH64, 0},
}

// noCall is the number of a call that the tracer has refused.
const noCall = 0xffffffff

// Native begins a filter for an architecture, by its name in Go: it kills for a call of
// another ABI (int 0x80, x32), whose numbers mean other calls, and leaves the number of
// the call loaded.
func Native(arch string) ([]bpf.Instruction, error) {
	a, ok := architectures[arch]
	if !ok {
		return nil, fmt.Errorf("there is no filter for %s", arch)
	}
	kill := bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS}
	program := []bpf.Instruction{
		Load(OffsetArch), bpf.JumpIf{Cond: bpf.JumpEqual, Val: a.audit, SkipTrue: 1}, kill,
		Load(OffsetNumber), bpf.JumpIf{Cond: bpf.JumpEqual, Val: noCall, SkipFalse: 1}, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	}
	if a.x32 != 0 {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: a.x32, SkipFalse: 1}, kill)
	}
	return program, nil
}

// Load loads a word of struct seccomp_data.
func Load(offset uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offset, Size: 4} }

// Install puts the filter before the calling thread, which the caller has locked, and
// all that it starts; with unix.SECCOMP_FILTER_FLAG_TSYNC before all threads.
// no_new_privs has to be set.
func Install(program []bpf.Instruction, flags uintptr) error {
	raw, err := bpf.Assemble(program)
	if err != nil {
		return fmt.Errorf("assemble the filter: %w", err)
	}
	if len(raw) > unix.BPF_MAXINSNS {
		return fmt.Errorf("the filter has %d instructions, and at most %d are possible", len(raw), unix.BPF_MAXINSNS)
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	header := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]} //nolint:gosec // at most 4096
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&header)))
	runtime.KeepAlive(filter)
	switch {
	case errno == unix.EINVAL, errno == unix.ENOSYS:
		return errors.New("install the filter: the kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)")
	case errno != 0:
		return fmt.Errorf("install the filter: %w", errno)
	case thread != 0:
		return fmt.Errorf("install the filter: thread %d has another one", thread)
	}
	return nil
}
