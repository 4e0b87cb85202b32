package ptrace

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ntARMSystemCall is NT_ARM_SYSTEM_CALL of linux/elf.h: the number of the call.
const ntARMSystemCall = 0x404

// largeFile is O_LARGEFILE of the kernel: to libc it is 0 where files are large
// anyway.
const largeFile = 0x20000

// refuse makes the kernel skip the call at whose entry a task is stopped, and
// return an error (seccomp(2), SECCOMP_RET_TRACE).
func refuse(tid int, errno syscall.Errno) error {
	var regs unix.PtraceRegsArm64
	if err := unix.PtraceGetRegsArm64(tid, &regs); err != nil {
		return err
	}
	regs.Regs[0] = -uint64(errno)
	if err := unix.PtraceSetRegsArm64(tid, &regs); err != nil {
		return err
	}
	none := int32(-1)
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(&none)), Len: uint64(unsafe.Sizeof(none))}
	if err := request(unix.PTRACE_SETREGSET, tid, ntARMSystemCall, uintptr(unsafe.Pointer(&iov))); err != 0 {
		return err
	}
	return nil
}
