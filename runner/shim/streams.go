package shim

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newRun makes the three streams of a server: pipes, like Python and Go for a child, or socket
// pairs, like Node.
func newRun(sockets bool) (*Run, []*os.File, error) {
	run, theirs := &Run{exited: make(chan struct{})}, make([]*os.File, 0, 3)
	inodes := make([]uint64, 3)
	for i, ours := range []**os.File{&run.Stdin, &run.Stdout, &run.Stderr} {
		one, other, err := stream(sockets, i == 0)
		if err == nil {
			*ours, theirs = one, append(theirs, other)
			inodes[i], err = inodeOf(other)
		}
		if err != nil {
			run.Close()
			closeAll(theirs)
			return nil, nil, fmt.Errorf("make the server's streams: %w", err)
		}
	}
	run.StdinInode, run.StdoutInode = inodes[0], inodes[1]
	return run, theirs, nil
}

// stream makes one stream; reads: the server reads from its end, else it writes.
func stream(socket, reads bool) (ours, theirs *os.File, err error) {
	if socket {
		return socketPair()
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	// The server may run under any uid and may open /dev/stdin or /proc/self/fd/1 by name.
	if err := r.Chmod(0o666); err != nil {
		closeAll([]*os.File{r, w})
		return nil, nil, err
	}
	if reads {
		return w, r, nil
	}
	return r, w, nil
}

// socketPair makes a pair of sockets. Only our own end is non-blocking.
func socketPair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a socket pair: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, nil, errors.Join(err, unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "stdio"), os.NewFile(uintptr(fds[1]), "stdio"), nil
}

// inodeOf returns the inode by which the trace names a stream.
func inodeOf(file *os.File) (uint64, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil {
		return 0, fmt.Errorf("name it: %w", err)
	}
	return stat.Ino, nil
}
