package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/faketime"
)

// Library is the path of libfaketime in the server's container: beside the shim,
// where the init container has put it.
func (l *Launcher) Library() (string, error) {
	if l.link == nil {
		return "", faketime.ErrMissing
	}
	self, err := l.shim()
	if err != nil {
		return "", err
	}
	library := filepath.Join(filepath.Dir(self), faketime.Name)
	file, err := l.Open(library)
	if err != nil {
		return "", faketime.ErrMissing
	}
	return library, file.Close()
}

// shim returns where the shim lies in the server's container.
func (l *Launcher) shim() (string, error) {
	self, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", l.link.peer))
	if err != nil {
		return "", fmt.Errorf("find where the shim lies: %w", err)
	}
	return self, nil
}

// Open opens a file of the server's container, without leaving it by a link and
// without waiting for one that is no file.
func (l *Launcher) Open(path string) (faketime.File, error) {
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
