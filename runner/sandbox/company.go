package sandbox

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/shim"
)

// company lists programs that run beside a client on a desktop.
var company = []string{
	"/usr/lib/systemd/systemd --user", "/usr/bin/dbus-daemon --session", "/usr/bin/pipewire", "/usr/bin/gnome-shell",
	"/opt/google/chrome/chrome", "/usr/bin/zsh", "/usr/bin/ssh-agent",
}

// accompany starts an idle process for each of company that looks like it. They are not part of the server's
// tree.
func accompany(as shim.Guise) error {
	for _, program := range company {
		if err := as.Pose(program); err != nil {
			return err
		}
		if errno := idle(); errno != 0 {
			return fmt.Errorf("start a process that looks like %s: %w", program, errno)
		}
	}
	return nil
}

// idle makes a copy of this process that waits for a signal, and ends by it. Go's runtime does not work in
// the copy, which has one thread only: it only makes system calls. (clone, and not clone3, which strace
// denies.)
//
//go:norace
//go:nosplit
func idle() syscall.Errno {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return errno
	}
	byDefault := [4]uintptr{} // struct sigaction of the kernel: SIG_DFL
	for signal := uintptr(1); signal < firstRealTime; signal++ {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, signal, uintptr(unsafe.Pointer(&byDefault)), 0, unsafe.Sizeof(byDefault[0]), 0, 0)
	}
	for {
		_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
	}
}

// firstRealTime is the first real-time signal (signal(7)).
const firstRealTime = 32
