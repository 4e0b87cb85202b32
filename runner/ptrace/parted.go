package ptrace

import (
	"bytes"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/syscalls"
)

// hurry multiplies the speed of time once the client has left. What a server puts off until nobody seems to look
// then happens within the moments that it is given to end: 20,000 half seconds are almost three hours.
const hurry = 20_000

// parting notices that the client leaves: the server reads the end of its stdin, or is asked to end.
type parting struct {
	// main is the process that runs the server's first program; 0 before that.
	main int
	// stdin is the pipe or the socket that was its stdin.
	stdin []byte
}

// began remembers the process of the server's first program.
func (p *parting) began(k *task, names *namer) {
	if p.main != 0 {
		return
	}
	p.main = k.processID()
	if target := names.descriptor(k, 0); bytes.HasPrefix(target, []byte("pipe:")) || bytes.HasPrefix(target, []byte("socket:")) {
		p.stdin = bytes.Clone(target)
	}
}

// asked reports whether a signal asks the server to end.
func (p *parting) asked(k *task, signal syscall.Signal) bool {
	return k.timed && k.processID() == p.main && (signal == unix.SIGTERM || signal == unix.SIGINT || signal == unix.SIGHUP)
}

// ended reports whether a call that has returned read the end of the server's stdin.
func (p *parting) ended(k *task, names *namer, read int64) bool {
	return read == 0 && k.timed && k.call.Op == syscalls.Input && k.arguments[2] > 0 && len(p.stdin) > 0 &&
		bytes.Equal(names.descriptor(k, int(int32(k.arguments[0]))), p.stdin) //nolint:gosec // as the kernel takes it
}

// part makes time fast from now on.
func (c *clock) part() {
	if c.parted == 0 {
		c.parted = max(1, c.since(unix.CLOCK_MONOTONIC))
	}
}
