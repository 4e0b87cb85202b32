package shim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// plant puts files below root's /tmp, which is where the arguments of calls lead, and the
// note where no argument is to lead. What is there stays: the server may have changed it
// when it ran before. No symbolic link leads out of root, or anywhere in place of a file.
func plant(root string, files []inputs.File) error {
	if len(files) == 0 {
		return nil
	}
	all, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { _ = all.Close() }() // opened for its name only
	tmp, err := all.OpenRoot("tmp")
	if err != nil {
		return err
	}
	defer func() { _ = tmp.Close() }()                                 // as above
	_ = plantFiles(all, outsideDir, []inputs.File{inputs.OutsideNote}) // an image may have no such directory, or a read-only one
	return plantFiles(tmp, ".", files)
}

// plantBelow puts files into a directory that is there. What it has no room for, or the
// server may not write, is not there.
func plantBelow(dir string, files []inputs.File) {
	at, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer func() { _ = at.Close() }() // opened for its name only
	_ = plantFiles(at, ".", files)    // as said
}

// outsideDir is inputs.OutsideDir below the root.
var outsideDir = strings.TrimPrefix(inputs.OutsideDir, "/")

// plantLures puts a link that leads out into a directory, and a directory beside it whose name
// begins with its own. What cannot be put there is not there.
func plantLures(dir string, outside []string) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return
	}
	if at, err := os.OpenRoot(dir); err == nil {
		_ = at.Symlink(inputs.OutsideDir, inputs.LinkName) // as said
		for link, to := range inputs.FileLinks(outside) {
			_ = at.Symlink(to, link) // as said
		}
		_ = plantFiles(at, ".", inputs.ArchiveFiles()) // as said
		_ = at.Close()                                 // opened for its name only
	}
	sibling := inputs.Sibling(dir)
	if os.Mkdir(sibling, 0o755) == nil {
		plantBelow(sibling, inputs.OutsideFilesOf(outside))
	}
}

// plantProject makes a directory a project of its own, as far as it is no part of one. Nobody has
// one at the root of a machine.
func plantProject(dir string) {
	dir, err := filepath.Abs(dir)
	if err != nil || dir == "/" {
		return
	}
	plantBelow(dir, slices.DeleteFunc(slices.Clone(inputs.Project()), func(f inputs.File) bool {
		entry, _, _ := strings.Cut(f.Path, "/")
		for above := dir; ; above = filepath.Dir(above) {
			if _, err := os.Lstat(filepath.Join(above, entry)); err == nil {
				return true
			}
			if above == filepath.Dir(above) {
				return false
			}
		}
	}))
}

// plantFiles puts all files that it can into a directory below at, and returns the first
// error. Each system call is one that the tracer sees, so those that share a directory are
// to follow each other: it is opened once.
func plantFiles(at *os.Root, below string, files []inputs.File) (first error) {
	var into *os.Root
	var name string
	var failed error
	for _, f := range files {
		if dir := path.Join(below, path.Dir(f.Path)); dir != name {
			if into != nil {
				_ = into.Close() // opened for its name only
			}
			name = dir
			into, failed = openDir(at, dir)
		}
		err := failed
		if err == nil {
			err = plantFile(into, path.Base(f.Path), f.Content)
		}
		if err != nil && first == nil {
			first = fmt.Errorf("plant %s: %w", f.Path, err)
		}
	}
	if into != nil {
		_ = into.Close() // as above
	}
	return first
}

// openDir opens a directory, and makes it where it is missing.
func openDir(at *os.Root, dir string) (*os.Root, error) {
	into, err := at.OpenRoot(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		return into, err
	}
	if err := at.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return at.OpenRoot(dir)
}

func plantFile(dir *os.Root, name string, content []byte) error {
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}
