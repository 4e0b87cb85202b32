package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAC7MemoryOfAnotherProcess: who writes to another process's memory does what process_vm_writev does. Runtimes write to
// their own.
func TestAC7MemoryOfAnotherProcess(t *testing.T) {
	for name, tc := range map[string]struct{ lines, want []string }{
		"of a child": {
			[]string{
				`5 2.000000 clone(child_stack=NULL, flags=SIGCHLD) = 6 <0.000001>`,
				`5 2.000001 openat(AT_FDCWD</>, "/proc/6/mem", O_RDWR) = 3</proc/6/mem> <0.000001>`,
				`5 2.000002 pwrite64(3</proc/6/mem>, "x", 1, 4096) = 1 <0.000001>`,
				`5 2.000003 openat(AT_FDCWD</>, "/proc/6/task/7/mem", O_WRONLY) = 3</proc/6/task/7/mem> <0.000001>`,
				`5 2.000004 openat(AT_FDCWD</>, "/proc/1/mem", O_WRONLY) = -1 EACCES (Permission denied) <0.000001>`,
				`5 2.000005 openat(AT_FDCWD</>, "/proc/6/mem", O_RDONLY) = 3</proc/6/mem> <0.000001>`,
			}, []string{
				`5 evade openat main path="/proc/PID/mem" at=0/0`,
				`5 evade pwrite64 main path="/proc/PID/mem" at=0/0`,
				`5 evade openat main path="/proc/PID/mem" at=0/0`,
				`5 evade openat error=EACCES main path="/proc/PID/mem" at=0/0`,
				`5 read openat main path="/proc/6/mem" flags=O_RDONLY at=0/0`,
			}},
		"as a descriptor that was passed": {
			[]string{
				`5 2.000000 recvmsg(4<UNIX-STREAM:[7]>, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1, msg_control=[{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[3</proc/6/mem>]}], msg_controllen=24, msg_flags=0}, 0) = 1 <0.000001>`,
			}, []string{`5 evade recvmsg main path="/proc/PID/mem" at=0/0`}},
		"its own": {
			[]string{
				`5 2.000000 openat(AT_FDCWD</>, "/proc/self/mem", O_RDWR) = 3</proc/5/mem> <0.000001>`,
				`5 2.000001 pwrite64(3</proc/5/mem>, "x", 1, 4096) = 1 <0.000001>`,
				`5 2.000002 openat(AT_FDCWD</>, "/proc/self/task/6/mem", O_RDWR) = 4</proc/5/task/6/mem> <0.000001>`,
			}, []string{
				`5 write openat main path="/proc/self/mem" flags=O_RDWR at=0/0`,
				`5 store pwrite64 main path="/proc/self/mem" data[1]="x" at=0/0`,
				`5 write openat main path="/proc/thread-self/mem" flags=O_RDWR at=0/0`,
			}},
		"its own, in a namespace where its number is not known": {
			[]string{
				`5 2.000000 clone(child_stack=NULL, flags=SIGCHLD) = 5 /* 31 in strace's PID NS */ <0.000001>`,
				`5 2.000001 openat(AT_FDCWD</>, "/proc/self/mem", O_RDWR) = 3</proc/1/mem> <0.000001>`,
				`5 2.000002 pwrite64(3</proc/1/mem>, "x", 1, 4096) = 1 <0.000001>`,
				`31 2.000003 openat(AT_FDCWD</>, "/proc/1/mem", O_RDWR) = 3</proc/1/mem> <0.000001>`,
			}, []string{
				`5 write openat main path="/proc/self/mem" flags=O_RDWR at=0/0`,
				`5 store pwrite64 main path="/proc/1/mem" data[1]="x" at=0/0`,
				`31 evade openat path="/proc/PID/mem" origin=0/0 at=0/0`,
			}},
	} {
		if got, _ := decodeLines(t, tc.lines...); !cmp.Equal(tc.want, got) {
			t.Errorf("%s: events (-want +got):\n%s", name, cmp.Diff(tc.want, got))
		}
	}
}
