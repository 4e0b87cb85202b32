package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// runnerID is the runner's uid and gid while it traces: within the range of user namespaces,
// and not a server's. 65532 is taken: distroless images run servers as it, and a server with
// our uid could signal the tracer.
const runnerID = 61713

// kept are the runner's capabilities: to trace, and to read descriptors of other users'
// processes.
const kept = 1<<unix.CAP_SYS_PTRACE | 1<<unix.CAP_DAC_READ_SEARCH

// dropRoot turns a process of uid 0 into one of runnerID with two ambient capabilities, by
// re-executing itself in place: no process remains with uid 0, which a server of that uid could
// kill. Otherwise it does nothing.
//
// Only ambient capabilities survive an exec under no_new_privs (capabilities(7)). All calls are
// raw, for the calling thread: the main one, the only one left by the exec.
func dropRoot() error {
	if os.Getuid() != 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_KEEPCAPS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("drop root: keep capabilities: %w", err)
	}
	for _, call := range []struct {
		name   string
		number uintptr
		args   [3]uintptr
	}{
		{"setgroups", unix.SYS_SETGROUPS, [3]uintptr{}},
		{"setresgid", unix.SYS_SETRESGID, [3]uintptr{runnerID, runnerID, runnerID}},
		{"setresuid", unix.SYS_SETRESUID, [3]uintptr{runnerID, runnerID, runnerID}},
	} {
		if _, _, errno := unix.RawSyscall(call.number, call.args[0], call.args[1], call.args[2]); errno != 0 {
			return fmt.Errorf("drop root: %s: %w (the container needs the capabilities SETUID and SETGID)", call.name, errno)
		}
	}
	if err := keepCapabilities(); err != nil {
		return fmt.Errorf("drop root: %w", err)
	}
	if err := unix.Exec("/proc/self/exe", os.Args, os.Environ()); err != nil {
		return fmt.Errorf("drop root: execute ourselves: %w", err)
	}
	return nil
}

// keepCapabilities reduces all sets to the wanted and available ones: without SYS_PTRACE the
// audit still ends with a report, which says what is missing.
func keepCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	have := sets[0].Permitted & kept
	sets = [2]unix.CapUserData{{Effective: have, Permitted: have, Inheritable: have}}
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return fmt.Errorf("set capabilities: %w", err)
	}
	for _, c := range []uintptr{unix.CAP_SYS_PTRACE, unix.CAP_DAC_READ_SEARCH} {
		if have&(1<<c) == 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, c, 0, 0); err != nil {
			return fmt.Errorf("raise ambient capability %d: %w", c, err)
		}
	}
	return nil
}
