package ptrace

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// data is struct seccomp_data, as far as filters look at it.
type data struct {
	number, arch uint32
	arguments    [6]uint32 // the low halves
}

func (d data) load(offset uint32) uint32 {
	switch offset {
	case offsetNumber:
		return d.number
	case offsetArch:
		return d.arch
	}
	return d.arguments[(offset-offsetArgument)/8]
}

// run is the kernel's interpreter, for the instructions that are used.
func run(t *testing.T, program []unix.SockFilter, d data) uint32 {
	t.Helper()
	var a uint32
	for at := 0; ; at++ {
		i := program[at]
		var yes bool
		switch i.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = d.load(i.K)
			continue
		case unix.BPF_RET | unix.BPF_K:
			return i.K
		case unix.BPF_JMP | unix.BPF_JA:
			at += int(i.K)
			continue
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			yes = a == i.K
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			yes = a >= i.K
		case unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K:
			yes = a&i.K != 0
		default:
			t.Fatalf("instruction %+v", i)
		}
		if yes {
			at += int(i.Jt)
		} else {
			at += int(i.Jf)
		}
	}
}

func TestFilterStopsForTheTracedCalls(t *testing.T) {
	traced := tracedNumbers()
	program := filter(traced)
	if len(program) > unix.BPF_MAXINSNS {
		t.Errorf("%d instructions", len(program))
	}
	for number := range uint32(1024) {
		if number == unix.SYS_MMAP {
			continue
		}
		want := uint32(unix.SECCOMP_RET_ALLOW)
		if slices.Contains(traced, number) {
			want = unix.SECCOMP_RET_TRACE
		}
		if got := run(t, program, data{number: number, arch: nativeArch}); got != want {
			t.Errorf("call %d: %#x, want %#x", number, got, want)
		}
	}
}

func TestFilterForbidsForeignCalls(t *testing.T) {
	program := filter(tracedNumbers())
	for _, d := range []data{
		{number: 1, arch: unix.AUDIT_ARCH_I386},
		{number: 1, arch: unix.AUDIT_ARCH_ARM},
		{number: 1, arch: 0},
	} {
		if got := run(t, program, d); got != unix.SECCOMP_RET_KILL_PROCESS {
			t.Errorf("%+v: %#x", d, got)
		}
	}
	if compatBit == 0 {
		return
	}
	if got := run(t, program, data{number: compatBit | 1, arch: nativeArch}); got != unix.SECCOMP_RET_KILL_PROCESS {
		t.Errorf("x32: %#x", got)
	}
}

func TestFilterStopsForMappingsThatAreShared(t *testing.T) {
	program := filter([]uint32{unix.SYS_MMAP})
	for flags, want := range map[uint32]uint32{
		unix.MAP_SHARED:                      unix.SECCOMP_RET_TRACE,
		unix.MAP_SHARED_VALIDATE:             unix.SECCOMP_RET_TRACE,
		unix.MAP_SHARED | unix.MAP_POPULATE:  unix.SECCOMP_RET_TRACE,
		unix.MAP_SHARED | unix.MAP_ANONYMOUS: unix.SECCOMP_RET_ALLOW,
		unix.MAP_PRIVATE:                     unix.SECCOMP_RET_ALLOW,
	} {
		d := data{number: unix.SYS_MMAP, arch: nativeArch, arguments: [6]uint32{3: flags}}
		if got := run(t, program, d); got != want {
			t.Errorf("mmap with %#x: %#x, want %#x", flags, got, want)
		}
	}
}

// raw are the calls whose arguments nobody reads: they are printed as they are.
var raw = []string{
	"io_uring_setup", "io_uring_enter", "io_uring_register", "io_setup", "io_submit", "bpf", "perf_event_open", "userfaultfd",
	"init_module", "kexec_load", "kexec_file_load", "clock_settime", "settimeofday", "reboot", "swapoff", "quotactl", "quotactl_fd",
	"sethostname", "setdomainname", "syslog", "iopl", "ioperm", "modify_ldt", "arch_prctl",
}

func TestEveryTracedCallHasItsArguments(t *testing.T) {
	known := signatures()
	for _, name := range trace.Calls() {
		if _, ok := known[name]; !ok && !slices.Contains(raw, name) && numbers[name] != 0 {
			t.Errorf("%s: no signature", name)
		}
	}
	for name, arguments := range known {
		if len(arguments) > 6 {
			t.Errorf("%s: %d arguments", name, len(arguments))
		}
	}
}
