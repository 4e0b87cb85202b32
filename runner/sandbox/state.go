package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/scratch"
)

// A server that is started again finds the files that it left: the outer stage
// hands a copy of its mounts to the command line as one descriptor (open_tree(2),
// OPEN_TREE_CLONE), and the next outer stage attaches that in place of a root of
// its own. All that was written is in those mounts, in memory; it is gone with the
// last descriptor, that is, with the command line.

// share sends a copy of the mounts at dir.
func share(dir string, to *net.UnixConn) error {
	fd, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return fmt.Errorf("keep what the server writes: %w", err)
	}
	defer func() { _ = unix.Close(fd) }() // the other side has its own
	if _, _, err := to.WriteMsgUnix([]byte{0}, unix.UnixRights(fd), nil); err != nil {
		return fmt.Errorf("keep what the server writes: %w", err)
	}
	return nil
}

// take receives what share has sent.
func take(from *net.UnixConn) (*os.File, error) {
	_, state, err := receiveFile(from)
	if err == nil && state == nil {
		err = errors.New("no descriptor came")
	}
	if err != nil {
		return nil, fmt.Errorf("keep what the server writes: %w", err)
	}
	return state, nil
}

// attach mounts at dir what an earlier run has left.
func attach(state *os.File, dir string) error {
	err := unix.MoveMount(int(state.Fd()), "", unix.AT_FDCWD, dir, unix.MOVE_MOUNT_F_EMPTY_PATH)
	if err != nil {
		err = fmt.Errorf("mount what the server has written before: %w", err)
	}
	return errors.Join(err, state.Close())
}

// mountpoint is the directory below which the server's root is built. It is the same
// one for every run, or a server would see that it is another.
func (l *Launcher) mountpoint() (string, error) {
	if l.scratch == nil {
		var err error
		if l.scratch, err = scratch.New(); err != nil {
			return "", err
		}
	}
	return l.scratch.Path, nil
}

// keepState takes over the mounts of a box for the next one.
func (l *Launcher) keepState(b *box) error {
	state, err := take(b.state)
	if err != nil {
		return err
	}
	if l.state != nil {
		_ = l.state.Close() // opened for its name only
	}
	l.state = state
	return nil
}

// salvageDeadline bounds how long a stage may take to hand on its mounts after its launch was broken off.
const salvageDeadline = 5 * time.Second

// salvage takes over the mounts of a box whose launch was broken off: mounts can be attached only once, so that those of
// the run before it may be of no use any more.
func (l *Launcher) salvage(b *box) {
	_ = b.state.SetReadDeadline(time.Now().Add(salvageDeadline)) // a socket has deadlines
	_ = l.keepState(b)                                           // the launch has failed by itself
}

// Close forgets what the server has written. The launcher is of no use then.
func (l *Launcher) Close() error {
	var err error
	if l.state != nil {
		err = l.state.Close()
	}
	if l.scratch != nil {
		err = errors.Join(err, l.scratch.Remove()) // it is empty: its mounts were in other namespaces
	}
	return err
}
