package ptrace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// What a laptop has at least: containers and virtual machines for tests have less.
const (
	processors = 8
	memory     = 16_303_428 << 10 // 16 GiB, without what the firmware keeps
	processor  = "12th Gen Intel(R) Core(TM) i7-1260P"
)

// ownProcessors is on which processors we may run, as the server may unless it changes that; few where that is on less than a laptop has.
func ownProcessors() (own unix.CPUSet, few bool) {
	err := unix.SchedGetaffinity(0, &own)
	return own, err == nil && own.Count() < processors
}

// tellProcessors answers sched_getaffinity(2) for who may run on all that there are.
func tellProcessors(t *tracer, k *task, _ *timed) func() {
	return func() {
		size := min(t.returned(k), maxSet)
		own, few := ownProcessors()
		if size < 8 || !few {
			return
		}
		raw := make([]byte, size)
		if peek(k.pid, k.arguments[2], raw) < len(raw) {
			return
		}
		count := 0
		for _, b := range raw {
			count += bits.OnesCount8(b)
		}
		if count == own.Count() {
			clear(raw)
			binary.NativeEndian.PutUint64(raw, 1<<processors-1)
			_ = poke(k.pid, k.arguments[2], raw) // a task that is gone tells by its end
		}
	}
}

// maxSet bounds a set of processors, in bytes.
const maxSet = 1024

// allProcessors rewrites a list of those that there are (Documentation/admin-guide/cputopology.rst).
func allProcessors(_ *clock, _ *task, _ []byte) []byte {
	if _, few := ownProcessors(); !few {
		return nil
	}
	return fmt.Appendf(nil, "0-%d\n", processors-1)
}

var (
	model   = lazyregexp.New(`(?m)^(model name\t: ).*$`)
	number  = lazyregexp.New(`(?m)^(processor\t: )\d+$`)
	perCore = lazyregexp.New(`(?m)^((?:siblings|cpu cores)\t: )\d+$`)
	virtual = lazyregexp.New(` hypervisor\b`)
)

// processorInfo rewrites /proc/cpuinfo: its blocks are those of the processors.
func processorInfo(_ *clock, _ *task, said []byte) []byte {
	said = virtual.ReplaceAll(model.ReplaceAll(said, []byte("${1}"+processor)), nil)
	blocks := slices.DeleteFunc(bytes.Split(said, []byte("\n\n")), func(b []byte) bool { return !number.MatchString(string(b)) })
	if _, few := ownProcessors(); !few || len(blocks) == 0 {
		return said
	}
	var all []byte
	for i := range processors {
		block := perCore.ReplaceAll(blocks[min(i, len(blocks)-1)], fmt.Appendf(nil, "${1}%d", processors))
		block = number.ReplaceAll(block, fmt.Appendf(nil, "${1}%d", i))
		all = append(append(all, bytes.TrimSuffix(block, []byte("\n"))...), "\n\n"...)
	}
	return all
}

// statistics rewrites /proc/stat, which has a line for each processor, and since when the machine is up.
func statistics(c *clock, k *task, said []byte) []byte {
	said = bootTime(c, k, said)
	if _, few := ownProcessors(); !few {
		return said
	}
	var all []byte
	known := 0
	var last string
	for line := range strings.Lines(string(said)) {
		name, rest, _ := strings.Cut(line, " ")
		if of, ok := strings.CutPrefix(name, "cpu"); ok {
			if of != "" {
				last, known = rest, known+1
			}
		} else {
			for ; last != "" && known < processors; known++ {
				all = fmt.Appendf(all, "cpu%d %s", known, last)
			}
		}
		all = append(all, line...)
	}
	return all
}

// amounts are the lines of /proc/meminfo that grow with the memory.
var amounts = lazyregexp.New(`(?m)^((?:MemTotal|MemFree|MemAvailable):\s+)(\d+)( kB)$`)

// memoryInfo rewrites /proc/meminfo.
func memoryInfo(_ *clock, _ *task, said []byte) []byte {
	more := uint64(0)
	return []byte(amounts.ReplaceAllStringFunc(string(said), func(line string) string {
		parts := amounts.FindStringSubmatch(line)
		kilobytes, err := strconv.ParseUint(parts[2], 10, 64)
		if err != nil {
			return line
		}
		if strings.HasPrefix(line, "MemTotal") {
			more = lacking(kilobytes << 10)
		}
		return fmt.Sprintf("%s%d%s", parts[1], kilobytes+more>>10, parts[3])
	}))
}

// lacking is how much memory a machine has less than a laptop.
func lacking(total uint64) uint64 { return max(memory, total) - total }
