package shim

import (
	"fmt"
	"runtime"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/seccomp"
	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// firstShared is the first call number that is the same on all architectures.
const firstShared = 424

// lastOld has the last number below firstShared of each architecture. The kernel's own
// trampolines make 335 and 336 (uretprobe, uprobe), when somebody on the node probes a
// program.
var lastOld = map[string]uint32{"amd64": 336, "arm64": 294}

// Confine denies the calling thread's process, and every process that it starts,
// the calls that could hide something from the tracer. no_new_privs has to be set,
// and the caller has locked the thread.
//
// These kill the whole process (SIGSYS):
//   - any call of another ABI (int 0x80, x32), whose numbers mean other calls;
//   - clone with CLONE_UNTRACED, whose child no tracer follows;
//   - seccomp with a listener: a call that the listener lets continue is not
//     reported to a tracer that works by RET_TRACE (seccomp(2));
//   - a socket of AF_VSOCK: such sockets belong to no network namespace
//     (vsock(7)), so what closes the network does not close them.
//
// An error would refuse them too, but unseen: it takes precedence over the trace
// that a tracer's filter asks for (seccomp(2)), while a process killed by SIGSYS is
// always in the trace. No other filter can take precedence over the kill. No runtime
// makes one of these calls.
//
// Numbers newer than the tracer fail as if the kernel did not have them (ENOSYS).
// Libraries try such calls and do without (glibc its fchmodat2), so this must
// neither kill nor be a finding, and the call has no effect.
//
// All other refused calls are refused by the tracer (syscalls.Call, Refused), which
// sees them and their arguments: io_uring, ptrace, and clone3, whose flags are in
// memory, where no filter can look.
func Confine() error {
	program, err := filter(runtime.GOARCH)
	if err == nil {
		err = limit()
	}
	if err == nil {
		err = seccomp.Install(program, 0)
	}
	if err != nil {
		return fmt.Errorf("confine the server: %w", err)
	}
	return nil
}

func filter(arch string) ([]bpf.Instruction, error) {
	program, err := seccomp.Native(arch)
	if err != nil {
		return nil, err
	}
	const first, second = seccomp.OffsetArgument, seccomp.OffsetArgument + 8
	kill, allow := bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS}, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	unknown := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
	program = append(program, when("socket", arch,
		seccomp.Load(first), bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_VSOCK, SkipFalse: 1}, kill, allow)...)
	program = append(program, when("clone", arch,
		seccomp.Load(first), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.CLONE_UNTRACED, SkipFalse: 1}, kill, allow)...)
	program = append(program, when("seccomp", arch,
		seccomp.Load(first), bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SECCOMP_SET_MODE_FILTER, SkipFalse: 3},
		seccomp.Load(second), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, SkipFalse: 1}, kill, allow)...)
	program = append(program, keepCore(arch)...)
	return append(program,
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: syscalls.LastKnown, SkipFalse: 1}, unknown,
		bpf.JumpIf{Cond: bpf.JumpGreaterThan, Val: lastOld[arch], SkipFalse: 2},
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: firstShared, SkipTrue: 1}, unknown,
		allow), nil
}

// when applies a block to one call; for others the number stays loaded.
func when(name, arch string, block ...bpf.Instruction) []bpf.Instruction {
	number, _ := syscalls.Find(name).Number(arch)                                                                          // every architecture has it
	return append([]bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpEqual, Val: number, SkipFalse: uint8(len(block))}}, block...) //nolint:gosec // a few
}
