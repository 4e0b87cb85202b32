package ptrace

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// ntARMSystemCall is NT_ARM_SYSTEM_CALL of linux/elf.h: the number of the call.
const ntARMSystemCall = 0x404

// largeFile is O_LARGEFILE of the kernel: to libc it is 0 where files are large
// anyway.
const largeFile = 0x20000

// skip makes the kernel skip the call at whose entry a task is stopped, and return a
// result (seccomp(2), SECCOMP_RET_TRACE): an error where it is negative.
func skip(tid int, result int64) error {
	if err := change(tid, func(regs *unix.PtraceRegsArm64) { regs.Regs[0] = uint64(result) }); err != nil { //nolint:gosec // as the kernel means it
		return err
	}
	none := int32(-1)
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(&none)), Len: uint64(unsafe.Sizeof(none))}
	if err := request(unix.PTRACE_SETREGSET, tid, ntARMSystemCall, uintptr(unsafe.Pointer(&iov))); err != 0 {
		return err
	}
	return nil
}

// setArgument changes an argument of the call that a task is in, counted from 0. The first
// one has the result, too, when the call has returned.
func setArgument(tid, argument int, value uint64) {
	_ = change(tid, func(regs *unix.PtraceRegsArm64) { regs.Regs[argument] = value }) // a task that is gone tells by its end
}

// setResult changes what a call that has returned gave.
func setResult(tid int, value int64) {
	_ = change(tid, func(regs *unix.PtraceRegsArm64) { regs.Regs[0] = uint64(value) }) //nolint:gosec // as the kernel means it
}

// stackPointer returns the stack pointer of a stopped task.
func stackPointer(tid int) (at uint64, ok bool) {
	var regs unix.PtraceRegsArm64
	err := unix.PtraceGetRegsArm64(tid, &regs)
	return regs.Sp, err == nil
}

func change(tid int, how func(regs *unix.PtraceRegsArm64)) error {
	var regs unix.PtraceRegsArm64
	if err := unix.PtraceGetRegsArm64(tid, &regs); err != nil {
		return err
	}
	how(&regs)
	return unix.PtraceSetRegsArm64(tid, &regs)
}
