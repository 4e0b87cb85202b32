package shim

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/seccomp"
)

// TestAD3CoreLimitStays: no server changes its limit of core dumps, and none notices.
func TestAD3CoreLimitStays(t *testing.T) {
	const done, refused, allow = unix.SECCOMP_RET_ERRNO, unix.SECCOMP_RET_ERRNO | int(unix.EPERM), unix.SECCOMP_RET_ALLOW
	const pointer, aligned = 0x7ffd00001000, 0x100000000 // the second has no low half
	for machine, of := range map[string]struct{ arch, setrlimit, prlimit uint32 }{
		"amd64": {unix.AUDIT_ARCH_X86_64, 160, 302}, "arm64": {unix.AUDIT_ARCH_AARCH64, 164, 261},
	} {
		for _, c := range []struct {
			what      string
			number    uint32
			arguments [4]uint64
			want      int
		}{
			{"set", of.setrlimit, [4]uint64{unix.RLIMIT_CORE, pointer}, done},
			{"set another", of.setrlimit, [4]uint64{unix.RLIMIT_NOFILE, pointer}, allow},
			{"set that of a process", of.prlimit, [4]uint64{7, unix.RLIMIT_CORE, pointer}, done},
			{"set from a page of zeros", of.prlimit, [4]uint64{0, unix.RLIMIT_CORE, aligned}, done},
			{"get", of.prlimit, [4]uint64{0, unix.RLIMIT_CORE, 0, pointer}, allow},
			{"set and get", of.prlimit, [4]uint64{0, unix.RLIMIT_CORE, pointer, pointer}, refused},
			{"set and get another", of.prlimit, [4]uint64{0, unix.RLIMIT_NOFILE, pointer, pointer}, allow},
			{"another call", 1, [4]uint64{unix.RLIMIT_CORE, unix.RLIMIT_CORE, pointer}, allow},
		} {
			data := make([]byte, 64)
			binary.BigEndian.PutUint32(data[seccomp.OffsetNumber:], c.number)
			binary.BigEndian.PutUint32(data[seccomp.OffsetArch:], of.arch)
			for i, argument := range c.arguments {
				binary.BigEndian.PutUint32(data[seccomp.OffsetArgument+8*i:], uint32(argument)) //nolint:gosec // its low half
				binary.BigEndian.PutUint32(data[seccomp.OffsetArgument+8*i+4:], uint32(argument>>32))
			}
			if got, err := vm(t, machine).Run(data); err != nil || got != c.want {
				t.Errorf("%s of %s: %#x, %v; want %#x", c.what, machine, got, err, c.want)
			}
		}
	}
}
