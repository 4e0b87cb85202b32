package sandbox

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/shim"
)

// company lists programs that run beside a client on a desktop, and how many processes of each: servers count them, and strace
// reads /proc once for each that is made or ended.
var company = []struct {
	program   string
	processes int
}{
	{"/usr/lib/systemd/systemd --user", 1}, {"/usr/bin/dbus-daemon --session", 1}, {"/usr/bin/pipewire", 2}, {"/usr/bin/gnome-shell", 1},
	{"/usr/libexec/gvfsd", 3}, {"/usr/libexec/gsd-power", 4}, {"/usr/libexec/evolution-calendar-factory", 2},
	{"/opt/google/chrome/chrome", 12}, {"/usr/share/code/code", 5}, {"/usr/bin/zsh", 2}, {"/usr/bin/ssh-agent", 1},
	// Other servers of the client.
	{"/usr/bin/node /usr/lib/node_modules/@modelcontextprotocol/server-memory/dist/index.js", 1}, {"/usr/bin/python3 /usr/local/bin/mcp-server-git", 1},
}

// accompany starts idle processes that look like company. They are not part of the server's tree.
func accompany(as shim.Guise) error {
	for _, of := range company {
		if err := as.Pose(of.program); err != nil {
			return err
		}
		for range of.processes {
			if errno := idle(); errno != 0 {
				return fmt.Errorf("start a process that looks like %s: %w", of.program, errno)
			}
		}
	}
	return nil
}

// idle makes a copy of this process that waits for a signal, and ends by it. Go's runtime does not work in
// the copy, which has one thread only: it only makes system calls. (clone, and not clone3, which strace
// denies.) The tracer is not told of the copy, because each would cost it time. The copy keeps the tracer's filter, by
// which every call that the tracer looks at fails.
//
//go:norace
//go:nosplit
func idle() syscall.Errno {
	const flags = uintptr(unix.SIGCHLD | unix.CLONE_UNTRACED)
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, flags, 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return errno
	}
	byDefault := [4]uintptr{} // struct sigaction of the kernel: SIG_DFL
	for signal := uintptr(1); signal < firstRealTime; signal++ {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, signal, uintptr(unsafe.Pointer(&byDefault)), 0, unsafe.Sizeof(byDefault[0]), 0, 0)
	}
	none := uint64(0) // sigset_t of the kernel
	for errno = syscall.EINTR; errno == syscall.EINTR; {
		_, _, errno = unix.RawSyscall6(unix.SYS_RT_SIGSUSPEND, uintptr(unsafe.Pointer(&none)), unsafe.Sizeof(none), 0, 0, 0, 0)
	}
	for {
		_, _, _ = unix.RawSyscall6(unix.SYS_EXIT_GROUP, 1, 0, 0, 0, 0, 0)
	}
}

// firstRealTime is the first real-time signal (signal(7)).
const firstRealTime = 32
