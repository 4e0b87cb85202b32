package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/ptrace"
	"github.com/mcpaudit/mcpaudit/runner/shim"
)

// direct returns the Spawn of the sandbox, where the tracer and its filter are
// there before the server: nothing has to wait at a gate.
func direct(command []string) shim.Spawn {
	return func(stdio []*os.File, env, arguments []string) (*shim.StartBarrier, error) {
		files := make([]*os.File, len(stdio))
		for i, f := range stdio {
			fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
			if err != nil {
				return nil, fmt.Errorf("keep the server's streams: %w", err)
			}
			files[i] = os.NewFile(uintptr(fd), f.Name())
		}
		abandon := func() {
			for _, f := range files {
				_ = f.Close() // copies
			}
		}
		return &shim.StartBarrier{Abandon: abandon, Open: func(ptrace.Stops) (int, error) {
			defer abandon()
			return startCapless(slices.Concat(command, arguments), files, env)
		}}, nil
	}
}

// startCapless starts the command without capabilities, which it can never gain.
// It does so on a thread of its own, which ends afterwards: capabilities belong to
// threads, and a child has those of the thread that made it.
func startCapless(command []string, files []*os.File, env []string) (pid int, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends here
		pid, err = startHere(command, files, env)
	}()
	<-done
	return pid, err
}

func startHere(command []string, files []*os.File, env []string) (int, error) {
	path, err := shim.Lookup(command)
	if err != nil {
		return 0, err
	}
	if err := dropCapabilities(); err != nil {
		return 0, err
	}
	if err := shim.Confine(); err != nil {
		return 0, err
	}
	fds := make([]uintptr, len(files))
	for i, f := range files {
		fds[i] = f.Fd()
	}
	pid, err := syscall.ForkExec(path, command, &syscall.ProcAttr{
		Env: env, Files: fds, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, shim.Explain(path, err)
	}
	return pid, nil
}

// dropCapabilities empties every set of the calling thread (capabilities(7)),
// the bounding set first while it may, and forbids that an exec gives any back.
func dropCapabilities() error {
	for c := range uintptr(64) {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // behind the last that the kernel knows
		}
		if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop the ambient capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop all capabilities: %w", err)
	}
	return nil
}
