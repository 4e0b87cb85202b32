package ptrace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// A developer's computer has at least this. Sandboxes have less, and programs that hide from them look.
const (
	processors = 12
	memory     = 32 << 30
)

// rented matches the names of processors that only data centers have.
var rented = lazyregexp.New(`(?m)^model name\t: (?:AMD EPYC|Intel\(R\) Xeon|QEMU|Common KVM).*$`)

// moreProcessors rewrites /proc/cpuinfo, with the names of a laptop's processor and without the flag of virtual machines.
func moreProcessors(_ *clock, _ *task, said []byte) []byte {
	said = bytes.ReplaceAll(said, []byte(" hypervisor"), nil)
	name := "12th Gen Intel(R) Core(TM) i7-1260P"
	if bytes.Contains(said, []byte("AuthenticAMD")) {
		name = "AMD Ryzen 7 PRO 6850U with Radeon Graphics"
	}
	said = rented.ReplaceAll(said, []byte("model name\t: "+name))
	return multiplied(said, "\n\n", "processor\t: ")
}

// moreTimes rewrites /proc/stat.
func moreTimes(c *clock, k *task, said []byte) []byte {
	return multiplied(bootTime(c, k, said), "\n", "cpu")
}

// multiplied repeats the last part that begins with a name and a number for each processor that is missing.
func multiplied(said []byte, end, name string) []byte {
	parts, last, next := bytes.SplitAfter(said, []byte(end)), -1, 0
	var rest []byte
	for i, part := range parts {
		after, ok := bytes.CutPrefix(part, []byte(name))
		digits := len(after) - len(bytes.TrimLeft(after, "0123456789"))
		if number, err := strconv.Atoi(string(after[:digits])); ok && err == nil {
			last, next, rest = i, number+1, after[digits:]
		}
	}
	if last < 0 {
		return said
	}
	all := bytes.Join(parts[:last+1], nil)
	for number := next; number < processors; number++ {
		all = fmt.Appendf(all, "%s%d%s", name, number, rest)
	}
	return append(all, bytes.Join(parts[last+1:], nil)...)
}

// memories matches the lines of /proc/meminfo that grow with the memory.
var memories = lazyregexp.New(`(?m)^Mem(?:Total|Free|Available): +\d+ kB$`)

// moreMemory rewrites /proc/meminfo.
func moreMemory(_ *clock, _ *task, said []byte) []byte {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return nil
	}
	more := missingMemory(&info) >> 10
	return []byte(memories.ReplaceAllStringFunc(string(said), func(line string) string {
		var name string
		var size uint64
		if _, err := fmt.Sscanf(line, "%s %d", &name, &size); err != nil {
			return line
		}
		return fmt.Sprintf("%-14s%10d kB", name, size+more)
	}))
}

// missingMemory returns how many bytes the machine lacks.
func missingMemory(info *unix.Sysinfo_t) uint64 {
	total := info.Totalram * uint64(info.Unit)
	return max(total, memory) - total
}

// allProcessors rewrites the lists of processors in /sys/devices/system/cpu ("0-3").
func allProcessors(_ *clock, _ *task, said []byte) []byte {
	last, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(string(said)), "0-"))
	if err != nil || last >= processors {
		return nil
	}
	return fmt.Appendf(nil, "0-%d\n", processors-1)
}

// tellProcessors answers sched_getaffinity(2), for a task that may run on all processors.
func tellProcessors(t *tracer, k *task, _ *timed) func() {
	return func() {
		size := t.returned(k)
		var ours unix.CPUSet
		if size < 8 || unix.SchedGetaffinity(0, &ours) != nil {
			return
		}
		var raw [8]byte
		if peek(k.pid, k.arguments[2], raw[:]) < len(raw) {
			return
		}
		mask := binary.NativeEndian.Uint64(raw[:])
		if bits.OnesCount64(mask) < ours.Count() || ours.Count() >= processors {
			return
		}
		binary.NativeEndian.PutUint64(raw[:], 1<<processors-1)
		_ = poke(k.pid, k.arguments[2], raw[:]) // a task that is gone tells by its end
	}
}
