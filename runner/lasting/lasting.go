// Package lasting finds changes to files that other programs run or obey later (package places) by comparing the
// files themselves. A trace has only the names that calls were given: it cannot follow a link that came with the
// image, nor a name or descriptor that another thread changes between the tracer's look and the kernel's.
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

// Bounds of what a server can have looked at: entries of directories in all, and how deep below the first ones. No program
// looks deeper for what it obeys.
const (
	maxEntries = 1 << 15
	maxDepth   = 16
)

// tops are system directories with such files. Below them, and below the home, only directories that may contain some
// are visited.
var tops = []string{"/etc", "/usr/local/bin", "/usr/local/sbin", "/var/spool/cron"}

var (
	// errUnseen means that the server's files were gone before the second look.
	errUnseen = errors.New("the server's files were gone")
	errMany   = errors.New("there are too many files")
)

// Watch compares such files before and after one run of a server.
type Watch struct {
	root, home    string
	machine       bool
	before, after snapshot
	err           error
}

// Begin takes the first look at the files of a server with this root directory and home. machine is set if its files
// are this machine's below an overlay. Begin is called after everything was planted, before the server runs.
func Begin(root, home string, machine bool) *Watch {
	w := &Watch{root: root, home: home, machine: machine}
	if w.before, w.err = take(root, home); w.err == nil {
		w.err = errUnseen
	}
	return w
}

// End takes the second look. It is called when the server has ended, while its root still exists.
func (w *Watch) End() {
	if errors.Is(w.err, errUnseen) {
		w.after, w.err = take(w.root, w.home)
	}
}

// Changed returns the files that are new or different, sorted. It is called after End.
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
		same.file = now.file // an overlay has its own inode numbers
		return now == same   // changed by the machine, below the overlay
	}), err
}

// Obeyed reports whether a file is run or obeyed by other programs, or is a directory that may contain such files.
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

// stamp identifies the content of a file. A server cannot set its change time (inode(7), ctime).
type stamp struct {
	file           uint64
	size           int64
	seconds, nanos int64
}

// snapshot has the stamps of the files at one time, by name.
type snapshot map[string]stamp

// take looks at the files below a root directory. It follows no links.
func take(root, home string) (snapshot, error) {
	tree, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tree.Close() }() // read-only
	seen, left := snapshot{}, maxEntries
	for _, top := range append([]string{home}, tops...) {
		err := fs.WalkDir(tree.FS(), strings.TrimPrefix(top, "/"), func(name string, entry fs.DirEntry, err error) error {
			name = "/" + name
			left--
			switch {
			case left < 0:
				return errMany
			case err != nil:
				return nil //nolint:nilerr // it is not there, or nobody but its owner may read it
			case entry.IsDir() && name != top && (!leads(name) || strings.Count(name[len(top):], "/") > maxDepth):
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
		return // removed in the meantime
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
