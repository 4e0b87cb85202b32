package ptrace

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// request is ptrace(2) with an address or a number as data. It never blocks, so it
// bypasses Go's scheduler, like all calls that are made at each stop.
func request(what, tid int, addr, data uintptr) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_PTRACE, uintptr(what), uintptr(tid), addr, data, 0, 0)
	return errno
}

// callInfo is struct ptrace_syscall_info of linux/ptrace.h. words holds the
// number and the arguments of a call that is entered, or the result.
type callInfo struct {
	op    uint8
	_     [3]uint8
	arch  uint32
	_, _  uint64 // instruction and stack pointers
	words [8]uint64
}

// read fills the info in; ESRCH when the task is gone.
func (c *callInfo) read(tid int) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid),
		unsafe.Sizeof(*c), uintptr(unsafe.Pointer(c)), 0, 0)
	return errno
}

func (c *callInfo) result() (value int64, failed bool) {
	return int64(c.words[0]), uint8(c.words[1]) != 0 //nolint:gosec // as the kernel means it
}

// eventMessage returns the pid that comes with an event.
func eventMessage(tid int) int {
	var message uintptr
	_, _, errno := syscall.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GETEVENTMSG, uintptr(tid), 0, uintptr(unsafe.Pointer(&message)), 0, 0)
	if errno != 0 {
		return 0
	}
	return int(message) //nolint:gosec // a pid
}

// gone reports whether a task that was stopped has been killed since.
func gone(tid int) bool {
	var info callInfo
	return info.read(tid) == unix.ESRCH
}

// pageSize is a divisor of every page size of Linux: a copy that does not cross
// a multiple of it works or fails as a whole.
const pageSize = 4096

// peek copies memory of a task, up to where it cannot be read.
func peek(tid int, addr uint64, into []byte) int {
	done := 0
	for done < len(into) {
		at := addr + uint64(done)
		n := min(len(into)-done, int(pageSize-at%pageSize))
		local := unix.Iovec{Base: &into[done], Len: uint64(n)}
		remote := unix.RemoteIovec{Base: uintptr(at), Len: n}
		got, _, errno := syscall.RawSyscall6(unix.SYS_PROCESS_VM_READV, uintptr(tid),
			uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
		if errno != 0 {
			break
		}
		done += int(got)
		if int(got) < n {
			break
		}
	}
	return done
}

// follow is readlink(2) of a path that ends in a 0 byte.
func follow(path, into []byte) int {
	at := unix.AT_FDCWD
	n, _, errno := syscall.RawSyscall6(unix.SYS_READLINKAT, uintptr(at), uintptr(unsafe.Pointer(&path[0])),
		uintptr(unsafe.Pointer(&into[0])), uintptr(len(into)), 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// statusOf reads /proc/PID/status: the process that a thread belongs to, and
// who traces it.
func statusOf(tid int) (process, tracer int) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(tid) + "/status")
	if err != nil {
		return 0, 0
	}
	return statusField(status, "\nTgid:"), statusField(status, "\nTracerPid:")
}

// statusField returns the last number of a line of /proc/PID/status.
func statusField(status []byte, name string) int {
	_, rest, _ := bytes.Cut(status, []byte(name))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	words := bytes.Fields(line)
	if len(words) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(string(words[len(words)-1])) // 0 when it is none
	return n
}
