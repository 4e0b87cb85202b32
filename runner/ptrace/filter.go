package ptrace

import (
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/seccomp"
	"github.com/mcpaudit/mcpaudit/runner/syscalls"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Stops says at which calls a process stops for the tracer.
type Stops byte

// The choices.
const (
	AtNone Stops = iota
	// AtCalls is at the traced calls.
	AtCalls
	// AtTime is at those, and at the calls that return the time or wait.
	AtTime
)

// StopsFor returns the stops that a clock needs.
func StopsFor(c trace.Clock) Stops {
	if c.True() {
		return AtCalls
	}
	return AtTime
}

// Install makes the calling thread, and all that it starts, stop for the tracer.
// no_new_privs has to be set, and the caller has locked the thread. From here on these
// calls fail without a tracer.
func Install(stops Stops) error {
	program, err := filter(tracedNumbers(stops))
	if err == nil {
		err = seccomp.Install(program, 0)
	}
	if err != nil {
		return fmt.Errorf("make the calls stop for the tracer: %w", err)
	}
	return nil
}

// tracedNumbers returns the numbers of the traced calls on this architecture, in order.
func tracedNumbers(stops Stops) []uint32 {
	var all []uint32
	add := func(c syscalls.Call) {
		if number, ok := c.Native(); ok {
			all = append(all, number)
		}
	}
	for _, c := range syscalls.Table {
		add(c)
	}
	if stops == AtTime {
		for _, c := range slices.Concat(timedCalls, stamped) {
			add(c.Call)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// filter returns the seccomp program. A process that makes a call by another ABI is killed:
// only programs that want to hide mix ABIs.
func filter(traced []uint32) ([]bpf.Instruction, error) {
	program, err := seccomp.Native(runtime.GOARCH)
	return append(program, search(spans(traced))...), err
}

// decision says how the filter treats a call.
type decision int

const (
	pass decision = iota
	stop
	stopIfShared // mmap: when it maps a file so that others see what is written
)

// span is a range of numbers with one decision: from first up to the next
// span's first.
type span struct {
	first uint32
	decision
}

// spans divides all numbers into ranges with one decision each.
func spans(traced []uint32) []span {
	all := []span{{0, pass}}
	next := func(first uint32, d decision) {
		last := &all[len(all)-1]
		switch {
		case last.first == first:
			last.decision = d
		case last.decision != d:
			all = append(all, span{first, d})
		}
	}
	for _, number := range traced {
		d := stop
		if number == unix.SYS_MMAP {
			d = stopIfShared
		}
		next(number, d)
		all = append(all, span{number + 1, pass})
	}
	return all
}

// instructions returns the instructions of a decision. Private mappings do not
// stop: there are many, and they cannot write to a file.
func (d decision) instructions() []bpf.Instruction {
	pause, allow := bpf.RetConstant{Val: unix.SECCOMP_RET_TRACE}, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	switch d {
	case pass:
		return []bpf.Instruction{allow}
	case stop:
		return []bpf.Instruction{pause}
	}
	return []bpf.Instruction{
		seccomp.Load(seccomp.OffsetArgument + 3*8),
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.MAP_SHARED, SkipFalse: 2}, // MAP_SHARED_VALIDATE has that bit, too
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.MAP_ANONYMOUS, SkipTrue: 1},
		pause,
		allow,
	}
}

// search finds the span of the number that is loaded by halving: a filter runs
// for each call of the server, the allowed ones included where the kernel has no
// cache of them.
func search(spans []span) []bpf.Instruction {
	if len(spans) == 1 {
		return spans[0].instructions()
	}
	middle := len(spans) / 2
	low, high := search(spans[:middle]), search(spans[middle:])
	// A conditional jump reaches 255 instructions, an unconditional one any.
	program := []bpf.Instruction{
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: spans[middle].first, SkipFalse: 1},
		bpf.Jump{Skip: uint32(len(low))}, //nolint:gosec // some hundreds
	}
	if len(low) <= 255 {
		program = []bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: spans[middle].first, SkipTrue: uint8(len(low))}} //nolint:gosec // just checked
	}
	return append(append(program, low...), high...)
}
