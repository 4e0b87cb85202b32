package ptrace

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// largeFile is O_LARGEFILE of the kernel: to libc it is 0 where files are large
// anyway.
const largeFile = 0x8000

// refuse makes the kernel skip the call at whose entry a task is stopped, and
// return an error (seccomp(2), SECCOMP_RET_TRACE).
func refuse(tid int, errno syscall.Errno) error {
	var regs unix.PtraceRegsAmd64
	if err := unix.PtraceGetRegsAmd64(tid, &regs); err != nil {
		return err
	}
	regs.Orig_rax = ^uint64(0)
	regs.Rax = -uint64(errno)
	return unix.PtraceSetRegsAmd64(tid, &regs)
}
