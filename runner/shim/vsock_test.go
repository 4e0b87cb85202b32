package shim

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestTheFilterKnowsEveryABI runs the filters of all architectures on this one.
func TestTheFilterKnowsEveryABI(t *testing.T) {
	const kill, allow = unix.SECCOMP_RET_KILL_PROCESS, unix.SECCOMP_RET_ALLOW
	for _, tc := range []struct {
		name, machine          string
		arch, number, argument uint32
		want                   int
	}{
		{"vsock", "amd64", unix.AUDIT_ARCH_X86_64, 41, unix.AF_VSOCK, kill},
		{"inet", "amd64", unix.AUDIT_ARCH_X86_64, 41, unix.AF_INET, allow},
		{"other call", "amd64", unix.AUDIT_ARCH_X86_64, 1, unix.AF_VSOCK, allow},
		{"what i386 numbers so", "amd64", unix.AUDIT_ARCH_X86_64, 102, makeSocket, allow},
		{"x32 vsock", "amd64", unix.AUDIT_ARCH_X86_64, x32 | 41, unix.AF_VSOCK, kill},
		{"x32 inet", "amd64", unix.AUDIT_ARCH_X86_64, x32 | 41, unix.AF_INET, allow},
		{"i386 vsock", "amd64", unix.AUDIT_ARCH_I386, 359, unix.AF_VSOCK, kill},
		{"i386 inet", "amd64", unix.AUDIT_ARCH_I386, 359, unix.AF_INET, allow},
		{"i386 socketcall socket", "amd64", unix.AUDIT_ARCH_I386, 102, makeSocket, kill},
		{"i386 socketcall connect", "amd64", unix.AUDIT_ARCH_I386, 102, 3, allow},
		{"i386 other call", "amd64", unix.AUDIT_ARCH_I386, 41, unix.AF_VSOCK, allow},
		{"no ABI of amd64", "amd64", unix.AUDIT_ARCH_AARCH64, 1, 0, kill},
		{"vsock", "arm64", unix.AUDIT_ARCH_AARCH64, 198, unix.AF_VSOCK, kill},
		{"inet", "arm64", unix.AUDIT_ARCH_AARCH64, 198, unix.AF_INET, allow},
		{"32-bit vsock", "arm64", unix.AUDIT_ARCH_ARM, 281, unix.AF_VSOCK, kill},
		{"32-bit inet", "arm64", unix.AUDIT_ARCH_ARM, 281, unix.AF_INET, allow},
	} {
		got, err := machine(t, vsockFilter(abis[tc.machine])).Run(seccompData(tc.arch, tc.number, tc.argument))
		if err != nil || got != tc.want {
			t.Errorf("%s of %s: %#x, %v; want %#x", tc.name, tc.machine, got, err, tc.want)
		}
	}
}

func machine(t *testing.T, filter []unix.SockFilter) *bpf.VM {
	t.Helper()
	raw := make([]bpf.RawInstruction, len(filter))
	for i, f := range filter {
		raw[i] = bpf.RawInstruction{Op: f.Code, Jt: f.Jt, Jf: f.Jf, K: f.K}
	}
	program, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatalf("not understood: %v", program)
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

// seccompData is struct seccomp_data, in the byte order of the VM. The upper
// half of the argument is not the kernel's to look at.
func seccompData(arch, number, argument uint32) []byte {
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[offsetNumber:], number)
	binary.BigEndian.PutUint32(data[offsetArch:], arch)
	binary.BigEndian.PutUint32(data[offsetArgument:], argument)
	binary.BigEndian.PutUint32(data[offsetArgument+4:], 1)
	return data
}
