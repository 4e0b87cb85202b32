package shim

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/seccomp"
)

// TestTheFilterOfEveryArchitecture runs the filters of all architectures on this one.
func TestTheFilterOfEveryArchitecture(t *testing.T) {
	const kill, allow, unknown = unix.SECCOMP_RET_KILL_PROCESS, unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | int(unix.ENOSYS)
	const amd64, arm64 = unix.AUDIT_ARCH_X86_64, unix.AUDIT_ARCH_AARCH64
	const listen = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_TSYNC
	for _, tc := range []struct {
		name, machine string
		arch, number  uint32
		arguments     [2]uint32
		want          int
	}{
		{"vsock", "amd64", amd64, 41, [2]uint32{unix.AF_VSOCK}, kill},
		{"inet", "amd64", amd64, 41, [2]uint32{unix.AF_INET}, allow},
		{"another call", "amd64", amd64, 1, [2]uint32{unix.AF_VSOCK}, allow},
		{"the first call", "amd64", amd64, 0, [2]uint32{}, allow},
		{"x32", "amd64", amd64, 0x40000000 | 39, [2]uint32{}, kill},
		{"int 0x80", "amd64", unix.AUDIT_ARCH_I386, 20, [2]uint32{}, kill},
		{"another machine", "amd64", arm64, 1, [2]uint32{}, kill},
		{"what the tracer refused", "amd64", amd64, 0xffffffff, [2]uint32{}, allow},
		{"fork", "amd64", amd64, 56, [2]uint32{uint32(unix.SIGCHLD)}, allow},
		{"thread", "amd64", amd64, 56, [2]uint32{0x3d0f00}, allow},
		{"untraced", "amd64", amd64, 56, [2]uint32{unix.CLONE_UNTRACED | uint32(unix.SIGCHLD)}, kill},
		{"clone3, for the tracer to refuse", "amd64", amd64, 435, [2]uint32{unix.CLONE_UNTRACED}, allow},
		{"a filter", "amd64", amd64, 317, [2]uint32{unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC}, allow},
		{"a listener", "amd64", amd64, 317, [2]uint32{unix.SECCOMP_SET_MODE_FILTER, listen}, kill},
		{"a question", "amd64", amd64, 317, [2]uint32{unix.SECCOMP_GET_ACTION_AVAIL, listen}, allow},
		{"the last old one", "amd64", amd64, 334, [2]uint32{}, allow},
		{"a trampoline", "amd64", amd64, 335, [2]uint32{}, allow},
		{"the gap", "amd64", amd64, 337, [2]uint32{}, unknown},
		{"the end of the gap", "amd64", amd64, 423, [2]uint32{}, unknown},
		{"the first shared one", "amd64", amd64, 424, [2]uint32{}, allow},
		{"the last known one", "amd64", amd64, 450, [2]uint32{}, allow},
		{"cachestat", "amd64", amd64, 451, [2]uint32{}, unknown},
		{"open_tree_attr", "amd64", amd64, 467, [2]uint32{}, unknown},
		{"vsock", "arm64", arm64, 198, [2]uint32{unix.AF_VSOCK}, kill},
		{"inet", "arm64", arm64, 198, [2]uint32{unix.AF_INET}, allow},
		{"32-bit", "arm64", unix.AUDIT_ARCH_ARM, 20, [2]uint32{}, kill},
		{"untraced", "arm64", arm64, 220, [2]uint32{unix.CLONE_UNTRACED}, kill},
		{"a listener", "arm64", arm64, 277, [2]uint32{unix.SECCOMP_SET_MODE_FILTER, listen}, kill},
		{"the gap", "arm64", arm64, 295, [2]uint32{}, unknown},
		{"the last known one", "arm64", arm64, 450, [2]uint32{}, allow},
		{"cachestat", "arm64", arm64, 451, [2]uint32{}, unknown},
		{"what the tracer refused", "arm64", arm64, 0xffffffff, [2]uint32{}, allow},
	} {
		got, err := vm(t, tc.machine).Run(seccompData(tc.arch, tc.number, tc.arguments))
		if err != nil || got != tc.want {
			t.Errorf("%s of %s: %#x, %v; want %#x", tc.name, tc.machine, got, err, tc.want)
		}
	}
}

func vm(t *testing.T, arch string) *bpf.VM {
	t.Helper()
	program, err := filter(arch)
	if err != nil {
		t.Fatal(err)
	}
	made, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// seccompData returns a struct seccomp_data in the byte order of the VM. The
// upper halves of the arguments do not matter to the kernel.
func seccompData(arch, number uint32, arguments [2]uint32) []byte {
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[seccomp.OffsetNumber:], number)
	binary.BigEndian.PutUint32(data[seccomp.OffsetArch:], arch)
	for i, argument := range arguments {
		binary.BigEndian.PutUint32(data[seccomp.OffsetArgument+8*i:], argument)
		binary.BigEndian.PutUint32(data[seccomp.OffsetArgument+8*i+4:], 1)
	}
	return data
}
