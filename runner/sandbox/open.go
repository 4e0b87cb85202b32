package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/audit"
)

// Open opens a file of the machine that the server is shown. At any other path the server has a file of its own, and the
// machine may have another one.
func (l *Launcher) Open(path string) (audit.File, error) {
	if l.image != nil {
		return l.openImage(path)
	}
	file, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(file)
	if err == nil && (!info.Mode().IsRegular() || l.view.withholds(path) || l.view.withholds(file)) {
		err = &os.PathError{Op: "open", Path: path, Err: os.ErrPermission}
	}
	if err != nil {
		return nil, err
	}
	return os.Open(file)
}

// openIn opens a path of an image as the image's programs would: no link leads out of it (openat2(2)).
func openIn(root, path string, flags uint64) (*os.File, error) {
	dir, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: root, Err: err}
	}
	defer func() { _ = unix.Close(dir) }() // opened for its name only
	fd, err := unix.Openat2(dir, path, &unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// resolveIn returns where the links of an image lead on the way to a path that it may lack.
func resolveIn(root, path string) (string, error) {
	file, err := openIn(root, path, unix.O_PATH)
	switch {
	case os.IsNotExist(err) && path != "/":
		above, err := resolveIn(root, filepath.Dir(path))
		return filepath.Join(above, filepath.Base(path)), err
	case err != nil:
		return "", err
	}
	defer func() { _ = file.Close() }() // opened for its name only
	at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	if err != nil {
		return "", err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", err
	}
	return filepath.Join("/", strings.TrimPrefix(at, root)), nil
}

// openImage opens a regular file of the image.
func (l *Launcher) openImage(path string) (audit.File, error) {
	file, err := openIn(l.image.Root, path, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = file.Close() // of no use
		return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrPermission}
	}
	return file, nil
}
