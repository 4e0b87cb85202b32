package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// ends are the connections between the command line and the outer stage.
type ends struct {
	spec     *os.File
	captures *os.File
	link     *net.UnixConn
	state    *net.UnixConn
	dials    *net.UnixConn
	// theirs are the stage's, in the order of its descriptors: specFD and so on.
	theirs []*os.File
}

func newEnds() (*ends, error) {
	e := &ends{}
	specRead, specWrite, specErr := os.Pipe()
	link, linkEnd, linkErr := socketpair(unix.SOCK_STREAM)
	caughtRead, caughtWrite, caughtErr := os.Pipe()
	state, stateEnd, stateErr := socketpair(unix.SOCK_STREAM)
	dials, dialsEnd, dialsErr := socketpair(unix.SOCK_SEQPACKET)
	e.spec, e.captures, e.link, e.state, e.dials = specWrite, caughtRead, link, state, dials
	e.theirs = []*os.File{specRead, linkEnd, caughtWrite, stateEnd, dialsEnd}
	if err := errors.Join(specErr, linkErr, caughtErr, stateErr, dialsErr); err != nil {
		e.closeTheirs()
		e.closeOurs()
		return nil, fmt.Errorf("make the ways into the sandbox: %w", err)
	}
	return e, nil
}

func (e *ends) closeTheirs() {
	for _, f := range e.theirs {
		_ = f.Close() // a nil file says so, and no more
	}
}

func (e *ends) closeOurs() {
	_, _ = e.spec.Close(), e.captures.Close() // as above
	for _, conn := range []*net.UnixConn{e.link, e.state, e.dials} {
		if conn != nil {
			_ = conn.Close() // unused
		}
	}
}

// socketpair makes a connection of a kind (socket(2)) to a stage.
func socketpair(kind int) (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "link")
	ours, err := inherit(fds[0])
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return ours, theirs, nil
}

// inherit makes a connection out of a descriptor.
func inherit(fd int) (*net.UnixConn, error) {
	file := os.NewFile(uintptr(fd), "link")
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("take over descriptor %s: %w", strconv.Itoa(fd), err)
	}
	_ = file.Close() // the connection has a copy
	link, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, fmt.Errorf("take over descriptor %d: it is a %T", fd, conn)
	}
	return link, nil
}
