package shim

import (
	"errors"
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/seccomp"
)

// limits are the resource limits of every server, soft and hard. One byte is the only limit of a core dump at which the
// kernel does not start the machine's handler of core dumps, outside of the container (core(5), kernel/coredump.c). The
// others, which a session of a desktop may have raised, let a process keep the machine's own from running.
var limits = map[int]uint64{unix.RLIMIT_CORE: 1, unix.RLIMIT_RTPRIO: 0, unix.RLIMIT_NICE: 0}

// limit sets them. Nobody without privileges can raise one that is lower already.
func limit() error {
	for resource, most := range limits {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("set resource limit %d: %w", resource, err)
		}
	}
	return nil
}

// setters has the numbers of setrlimit and prlimit64 of each architecture, which the tracer does not know.
var setters = map[string][2]uint32{"amd64": {160, 302}, "arm64": {164, 261}}

// keepCore makes a change of the limit of core dumps succeed without effect: a server that lowers it to 0 would start the
// handler. A call that asks for the old limits, too, is refused, because nobody would write them.
func keepCore(arch string) []bpf.Instruction {
	const core, argument = unix.RLIMIT_CORE, seccomp.OffsetArgument
	done, refused, allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO}, bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	equal := func(value uint32, skip uint8) bpf.Instruction {
		return bpf.JumpIf{Cond: bpf.JumpEqual, Val: value, SkipFalse: skip}
	}
	numbers := setters[arch]
	return []bpf.Instruction{
		equal(numbers[0], 4), seccomp.Load(argument), equal(core, 1), done, allow,
		equal(numbers[1], 11), seccomp.Load(argument + 8), equal(core, 7),
		seccomp.Load(argument + 2*8), equal(0, 2), seccomp.Load(argument + 2*8 + 4), bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 3}, // new_limit
		seccomp.Load(argument + 3*8), equal(0, 2), done, // old_limit
		allow, refused,
	}
}
