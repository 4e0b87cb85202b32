// Package lasting finds changes to the files that something runs or obeys when the server is gone (package places) by
// looking at the files themselves. A trace has the names that calls were given, and where they led to only as far as it
// can tell: not through a link that came with the server, and not if another thread changes a name or a descriptor between
// the tracer's look and the kernel's.
package lasting

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// maxEntries bounds how many entries of directories are looked at.
const maxEntries = 1 << 15

// tops are the machine's own directories of such files. Below them, and below the home, only directories that may contain
// some are entered.
var tops = []string{"/etc", "/usr/local/bin", "/usr/local/sbin", "/var/spool/cron"}

// errUnseen: the server's files were gone before they were looked at again.
var errUnseen = errors.New("the server's files were gone")

// Watch compares the files of one run of a server, before and after.
type Watch struct {
	root, home    string
	machine       bool
	before, after snapshot
	err           error
}

// Begin looks at the files of a server whose root directory and home are given. machine: its files are this machine's, with
// its own changes on top. Call it before the server runs, and after everything was planted.
func Begin(root, home string, machine bool) *Watch {
	w := &Watch{root: root, home: home, machine: machine}
	if w.before, w.err = take(root, home); w.err == nil {
		w.err = errUnseen
	}
	return w
}

// End looks at them again. Call it when the server has ended, while its root is still there.
func (w *Watch) End() {
	if errors.Is(w.err, errUnseen) {
		w.after, w.err = take(w.root, w.home)
	}
}

// Changed returns the files that are new or different, sorted. Call it after End.
func (w *Watch) Changed() ([]string, error) {
	if w.err != nil {
		return nil, w.err
	}
	changed := w.after.since(w.before)
	if !w.machine || len(changed) == 0 {
		return changed, nil
	}
	shown, err := take("/", w.home)
	return slices.DeleteFunc(changed, func(name string) bool {
		now, same := w.after[name], shown[name]
		same.file = now.file // an overlay has numbers of its own
		return now == same   // somebody else has changed it, and it shows through
	}), err
}

// Obeyed reports whether a file is one of those, or a directory that may contain some.
func Obeyed(name string) bool {
	_, at := places.ObeyedAt(name)
	return at || leads(name)
}

// leads reports whether a directory may contain such files, at any depth.
func leads(dir string) bool {
	_, below := places.ObeyedBelow(dir)
	_, at := places.ObeyedAt(dir + "/x")
	return below || at
}

// stamp identifies the content of a file. The server cannot set the time of the last change (inode(7), ctime).
type stamp struct {
	file           uint64
	size           int64
	seconds, nanos int64
}

// snapshot has the stamps of the files at one time, by name.
type snapshot map[string]stamp

// take looks at the files below a root directory. It follows no link.
func take(root, home string) (snapshot, error) {
	tree, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tree.Close() }() // only read
	seen, left := snapshot{}, maxEntries
	for _, top := range append([]string{home}, tops...) {
		err := fs.WalkDir(tree.FS(), strings.TrimPrefix(top, "/"), func(name string, entry fs.DirEntry, err error) error {
			name = "/" + name
			left--
			switch {
			case left < 0:
				return fs.SkipAll
			case err != nil:
				return nil //nolint:nilerr // it is not there, or nobody but its owner may read it
			case entry.IsDir() && name != top && !leads(name):
				return fs.SkipDir
			case entry.IsDir():
				return nil
			}
			if _, obeyed := places.ObeyedAt(name); obeyed {
				seen.add(name, entry)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return seen, nil
}

func (s snapshot) add(name string, entry fs.DirEntry) {
	info, err := entry.Info()
	if err != nil {
		return // it was removed meanwhile
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		s[name] = stamp{file: stat.Ino, size: stat.Size, seconds: stat.Ctim.Sec, nanos: stat.Ctim.Nsec}
	}
}

// since returns the names of the files that are new or different, sorted.
func (s snapshot) since(before snapshot) []string {
	var all []string
	for name, now := range s {
		if then, known := before[name]; !known || then != now {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}
