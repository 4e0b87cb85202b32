package sandbox

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/shim"
)

// company lists programs that run beside a client on a desktop, and how many processes of each: servers count them.
var company = []struct {
	program   string
	processes int
}{
	{"/usr/lib/systemd/systemd --user", 1}, {"/usr/bin/dbus-daemon --session", 2}, {"/usr/bin/pipewire", 3}, {"/usr/bin/gnome-shell", 1},
	{"/usr/libexec/gvfsd", 12}, {"/usr/libexec/gsd-power", 18}, {"/usr/libexec/evolution-calendar-factory", 4},
	{"/opt/google/chrome/chrome", 38}, {"/usr/share/code/code", 16}, {"/usr/bin/zsh", 5}, {"/usr/bin/ssh-agent", 1},
}

// accompany starts idle processes that look like company. They are not part of the server's tree.
func accompany(as shim.Guise) error {
	for _, of := range company {
		if err := as.Pose(of.program); err != nil {
			return err
		}
		if errno := idle(of.processes); errno != 0 {
			return fmt.Errorf("start a process that looks like %s: %w", of.program, errno)
		}
	}
	return nil
}

// idle makes a copy of this process that waits for a signal, and ends by it; the copy makes more of itself, for so many
// processes in all. Go's runtime does not work in a copy, which has one thread only: it only makes system calls. (clone,
// and not clone3, which strace denies.)
//
//go:norace
//go:nosplit
func idle(processes int) syscall.Errno {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return errno
	}
	byDefault := [4]uintptr{} // struct sigaction of the kernel: SIG_DFL
	for signal := uintptr(1); signal < firstRealTime; signal++ {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, signal, uintptr(unsafe.Pointer(&byDefault)), 0, unsafe.Sizeof(byDefault[0]), 0, 0)
	}
	for pid = 1; pid != 0 && processes > 1; processes-- {
		pid, _, _ = unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	}
	for {
		_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
	}
}

// firstRealTime is the first real-time signal (signal(7)).
const firstRealTime = 32
