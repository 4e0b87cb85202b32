package shim

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/audit"
)

// shim returns the path of the shim in the server's container.
func (l *Launcher) shim() (string, error) {
	self, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", l.link.peer))
	if err != nil {
		return "", fmt.Errorf("find where the shim lies: %w", err)
	}
	return self, nil
}

// Open opens a file of the server's container. No link leads out of the container,
// and a pipe or device does not block.
func (l *Launcher) Open(path string) (audit.File, error) {
	root, err := os.Open(fmt.Sprintf("/proc/%d/root", l.link.peer))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // opened for its name only
	fd, err := unix.Openat2(int(root.Fd()), path, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return nil, &os.PathError{Op: "openat2", Path: path, Err: err}
	}
	file := os.NewFile(uintptr(fd), path)
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s is no file", path), err, file.Close())
	}
	return file, nil
}
