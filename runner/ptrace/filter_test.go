package ptrace

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/seccomp"
)

// run returns what the filter of some calls answers to one, made with the low halves of its
// arguments.
func run(t *testing.T, traced []uint32, arch, number uint32, arguments ...uint32) int {
	t.Helper()
	program, err := filter(traced)
	if err != nil {
		t.Fatal(err)
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64) // struct seccomp_data, in the byte order of the VM
	binary.BigEndian.PutUint32(data[seccomp.OffsetNumber:], number)
	binary.BigEndian.PutUint32(data[seccomp.OffsetArch:], arch)
	for i, argument := range arguments {
		binary.BigEndian.PutUint32(data[seccomp.OffsetArgument+8*i:], argument)
	}
	answer, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// nativeArch is the audit architecture of this program.
var nativeArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]

func TestFilterStopsForTheTracedCalls(t *testing.T) {
	traced := tracedNumbers(AtTime)
	for number := range uint32(1024) {
		if number == unix.SYS_MMAP {
			continue
		}
		want := unix.SECCOMP_RET_ALLOW
		if slices.Contains(traced, number) {
			want = unix.SECCOMP_RET_TRACE
		}
		if got := run(t, traced, nativeArch, number); got != want {
			t.Errorf("call %d: %#x, want %#x", number, got, want)
		}
	}
}

func TestFilterForbidsForeignCalls(t *testing.T) {
	foreign := map[uint32]uint32{unix.AUDIT_ARCH_I386: 1, unix.AUDIT_ARCH_ARM: 1, 0: 1}
	if runtime.GOARCH == "amd64" {
		foreign[nativeArch] = 0x40000000 | 1 // x32
	}
	for arch, number := range foreign {
		if got := run(t, tracedNumbers(AtTime), arch, number); got != unix.SECCOMP_RET_KILL_PROCESS {
			t.Errorf("call %#x of %#x: %#x", number, arch, got)
		}
	}
}

func TestFilterStopsForMappingsThatAreShared(t *testing.T) {
	for flags, want := range map[uint32]int{
		unix.MAP_SHARED:                      unix.SECCOMP_RET_TRACE,
		unix.MAP_SHARED_VALIDATE:             unix.SECCOMP_RET_TRACE,
		unix.MAP_SHARED | unix.MAP_POPULATE:  unix.SECCOMP_RET_TRACE,
		unix.MAP_SHARED | unix.MAP_ANONYMOUS: unix.SECCOMP_RET_ALLOW,
		unix.MAP_PRIVATE:                     unix.SECCOMP_RET_ALLOW,
	} {
		if got := run(t, []uint32{unix.SYS_MMAP}, nativeArch, unix.SYS_MMAP, 0, 0, 0, flags); got != want {
			t.Errorf("mmap with %#x: %#x, want %#x", flags, got, want)
		}
	}
}
