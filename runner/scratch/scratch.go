// Package scratch makes the directories for temporary files of the command line. One
// that its process could not remove, because it was killed, is removed when the next
// process of the same user makes one.
//
// A directory is known by a marker in it, which its process holds by flock(2): the
// kernel lets go of it however the process ends.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	prefix = "mcpaudit-"
	marker = ".mcpaudit-held"
)

// Dir is a directory that only its owner may enter.
type Dir struct {
	Path string
	held *os.File
}

// New makes a directory in os.TempDir, and removes those there of processes that are gone.
func New() (*Dir, error) {
	reap(os.TempDir())
	path, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, fmt.Errorf("make a directory for temporary files: %w", err)
	}
	// The marker gets its name when it is held: it is never there without its owner.
	unnamed := filepath.Join(path, marker+".new")
	held, err := os.OpenFile(unnamed, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err == nil {
		err = errors.Join(syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), os.Rename(unnamed, filepath.Join(path, marker)))
	}
	if err != nil {
		return nil, fmt.Errorf("hold %s: %w", path, errors.Join(err, os.RemoveAll(path)))
	}
	return &Dir{Path: path, held: held}, nil
}

// Remove removes the directory with all that is in it.
func (d *Dir) Remove() error {
	return errors.Join(os.RemoveAll(d.Path), d.held.Close())
}

// reap removes the directories in top that their processes have left. What cannot be
// removed stays for the next time: it is in nobody's way.
func reap(top string) {
	tree, err := os.OpenRoot(top)
	if err != nil {
		return
	}
	defer func() { _ = tree.Close() }() // opened for its name only
	entries, err := fs.ReadDir(tree.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			remove(tree, e.Name())
		}
	}
}

// remove removes a directory of this user's whose process is gone.
func remove(top *os.Root, name string) {
	found, err := top.Lstat(name)
	if err != nil || !found.IsDir() || !isOwn(found) {
		return
	}
	dir, err := top.OpenRoot(name)
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }() // opened for its name only
	if opened, err := dir.Stat("."); err != nil || !os.SameFile(found, opened) {
		return // another was put in its place
	}
	held := hold(dir)
	if held == nil {
		return
	}
	defer func() { _ = held.Close() }() // only locked
	if empty(dir) == nil && dir.Remove(marker) == nil {
		_ = top.Remove(name) // empty
	}
}

// hold locks the marker of a directory; nil if there is none, or its process lives.
func hold(dir *os.Root) *os.File {
	info, err := dir.Lstat(marker)
	if err != nil || !info.Mode().IsRegular() || !isOwn(info) {
		return nil
	}
	file, err := dir.Open(marker)
	if err != nil {
		return nil
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		_ = file.Close() // somebody else's
		return nil
	}
	return file
}

// empty removes all but the marker, by which the rest is found if something stays.
func empty(dir *os.Root) error {
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == marker {
			continue
		}
		if err := dir.RemoveAll(e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// isOwn reports whether a file belongs to the user of this process.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
