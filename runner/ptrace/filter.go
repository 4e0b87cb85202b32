package ptrace

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// The offsets of struct seccomp_data (seccomp(2)). The low half of an argument
// comes first on both architectures.
const (
	offsetNumber   = 0
	offsetArch     = 4
	offsetArgument = 16
)

// Install makes the traced calls of the calling thread, and of all that it
// starts, stop for the tracer. no_new_privs has to be set, and the caller has
// locked the thread. From here on the traced calls fail without a tracer.
func Install() error {
	program := filter(tracedNumbers())
	header := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]} //nolint:gosec // some hundreds
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&header)), 0, 0)
	runtime.KeepAlive(program)
	if err != nil {
		return fmt.Errorf("install the tracer's filter: %w", err)
	}
	return nil
}

// tracedNumbers returns the traced numbers of the traced calls that this architecture has, in
// order.
func tracedNumbers() []uint32 {
	var all []uint32
	for _, name := range trace.Calls() {
		if number, ok := numbers[name]; ok {
			all = append(all, number)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// filter is the program. A call by another ABI has other numbers, and a process
// that makes one is killed: every architecture that we are built for has its
// own, and only programs that want to hide mix them.
func filter(traced []uint32) []unix.SockFilter {
	program := []unix.SockFilter{
		load(offsetArch),
		jump(unix.BPF_JEQ, nativeArch, 1, 0),
		end(unix.SECCOMP_RET_KILL_PROCESS),
		load(offsetNumber),
	}
	if compatBit != 0 {
		program = append(program, jump(unix.BPF_JSET, compatBit, 0, 1), end(unix.SECCOMP_RET_KILL_PROCESS))
	}
	return append(program, search(spans(traced))...)
}

// decision of the filter about a call.
type decision int

const (
	pass decision = iota
	stop
	stopIfShared // mmap: when it maps a file so that others see what is written
)

// span is a run of numbers that are all decided alike: from first up to the
// next span's first.
type span struct {
	first uint32
	decision
}

// spans divides all numbers.
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

// instructions of a decision. Of mappings that no file can be written through
// there are many, and nothing is to be learned from them.
func (d decision) instructions() []unix.SockFilter {
	switch d {
	case pass:
		return []unix.SockFilter{end(unix.SECCOMP_RET_ALLOW)}
	case stop:
		return []unix.SockFilter{end(unix.SECCOMP_RET_TRACE)}
	}
	return []unix.SockFilter{
		load(offsetArgument + 3*8),
		jump(unix.BPF_JSET, unix.MAP_SHARED, 0, 2), // MAP_SHARED_VALIDATE has that bit, too
		jump(unix.BPF_JSET, unix.MAP_ANONYMOUS, 1, 0),
		end(unix.SECCOMP_RET_TRACE),
		end(unix.SECCOMP_RET_ALLOW),
	}
}

// search finds the span of the number that is loaded by halving: a filter runs
// for each call of the server, the allowed ones included where the kernel has no
// cache of them.
func search(spans []span) []unix.SockFilter {
	if len(spans) == 1 {
		return spans[0].instructions()
	}
	middle := len(spans) / 2
	low, high := search(spans[:middle]), search(spans[middle:])
	if len(low) <= 255 {
		return append(append([]unix.SockFilter{jump(unix.BPF_JGE, spans[middle].first, uint8(len(low)), 0)}, low...), high...) //nolint:gosec // just checked
	}
	// A conditional jump reaches 255 instructions, an unconditional one any.
	program := []unix.SockFilter{
		jump(unix.BPF_JGE, spans[middle].first, 0, 1),
		{Code: unix.BPF_JMP | unix.BPF_JA, K: uint32(len(low))}, //nolint:gosec // some hundreds
	}
	return append(append(program, low...), high...)
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// jump skips instructions by whether what is loaded compares to value as how
// says.
func jump(how uint16, value uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | how, K: value, Jt: yes, Jf: no}
}

func end(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}
