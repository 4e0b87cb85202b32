package ptrace

import "golang.org/x/sys/unix"

// largeFile is O_LARGEFILE of the kernel: to libc it is 0 where files are large
// anyway.
const largeFile = 0x8000

// skip makes the kernel skip the call at whose entry a task is stopped, and return a
// result (seccomp(2), SECCOMP_RET_TRACE): an error where it is negative.
func skip(tid int, result int64) error {
	return change(tid, func(regs *unix.PtraceRegsAmd64) { regs.Orig_rax, regs.Rax = ^uint64(0), uint64(result) }) //nolint:gosec // as the kernel means it
}

// setArgument changes an argument of the call that a task is in, counted from 0.
func setArgument(tid, argument int, value uint64) {
	_ = change(tid, func(regs *unix.PtraceRegsAmd64) { // a task that is gone tells by its end
		*[]*uint64{&regs.Rdi, &regs.Rsi, &regs.Rdx, &regs.R10, &regs.R8, &regs.R9}[argument] = value
	})
}

// setResult changes what a call that has returned gave.
func setResult(tid int, value int64) {
	_ = change(tid, func(regs *unix.PtraceRegsAmd64) { regs.Rax = uint64(value) }) //nolint:gosec // as the kernel means it
}

// stackPointer returns the stack pointer of a stopped task.
func stackPointer(tid int) (at uint64, ok bool) {
	var regs unix.PtraceRegsAmd64
	err := unix.PtraceGetRegsAmd64(tid, &regs)
	return regs.Rsp, err == nil
}

func change(tid int, how func(regs *unix.PtraceRegsAmd64)) error {
	var regs unix.PtraceRegsAmd64
	if err := unix.PtraceGetRegsAmd64(tid, &regs); err != nil {
		return err
	}
	how(&regs)
	return unix.PtraceSetRegsAmd64(tid, &regs)
}
