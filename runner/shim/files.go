package shim

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/counters"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/pseudonym"
)

// planter puts files where the server finds them, with the names that it is to see.
type planter struct{ *pseudonym.Names }

// ordinary puts files below root's /tmp, where the arguments of calls lead, and a note where no
// argument should lead. Existing files stay: an earlier run of the server may have changed
// them. No symbolic link is followed out of root or in place of a file.
func (p planter) ordinary(root string, files []inputs.File) error {
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
	defer func() { _ = tmp.Close() }()                                                              // opened for its name only
	_ = p.files(all, strings.TrimPrefix(inputs.OutsideDir, "/"), []inputs.File{inputs.OutsideNote}) // an image may have no such directory, or a read-only one
	return p.files(tmp, ".", files)
}

// below puts files into an existing directory, as far as there is room and the server
// may write.
func (p planter) below(dir string, files []inputs.File) {
	at, err := os.OpenRoot(p.Out(dir))
	if err != nil {
		return
	}
	defer func() { _ = at.Close() }() // opened for its name only
	_ = p.files(at, ".", files)       // as said
}

// lures plants in a directory archives and links that lead out of it, and beside it two directories, one of which has a name that
// begins with that of the directory.
func (p planter) lures(dir string, archives []inputs.File, outside []string) {
	dir = p.Out(dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return
	}
	if at, err := os.OpenRoot(dir); err == nil {
		_ = at.Symlink(p.Out(inputs.OutsideDir), p.Out(inputs.LinkName)) // as said
		for link, to := range inputs.FileLinks(outside) {
			_ = at.Symlink(p.Out(to), p.Out(link)) // as said
		}
		_ = p.files(at, ".", archives) // as said
		_ = at.Close()                 // opened for its name only
	}
	for _, beside := range []string{inputs.Sibling(dir), inputs.Neighbour(dir)} {
		if os.Mkdir(p.Out(beside), 0o755) == nil {
			p.below(beside, inputs.OutsideFilesOf(outside))
		}
	}
}

// project makes a directory a project, unless it is part of one already. The root of a
// machine is never a project.
func (p planter) project(dir string) {
	dir, err := filepath.Abs(p.Out(dir))
	if err != nil || dir == "/" {
		return
	}
	p.below(dir, slices.DeleteFunc(slices.Clone(inputs.Project()), func(f inputs.File) bool {
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

// files puts as many files as it can into a directory below at, and returns the first
// error. The tracer stops each system call, so files of one directory should follow each
// other: it is opened once for them.
func (p planter) files(at *os.Root, below string, files []inputs.File) (first error) {
	var into *os.Root
	var name string
	var failed error
	for _, f := range files {
		f.Path, f.Content = p.Out(f.Path), p.OutBytes(f.Content)
		if dir := path.Join(p.Out(below), path.Dir(f.Path)); dir != name {
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

// openDir opens a directory, and makes it if it is missing.
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

// age gives files the content that they would have after long use, unless they hold something else than expected by now.
func (p planter) age(files []counters.File) {
	for _, f := range files {
		f = counters.File{Path: p.Out(f.Path), Was: p.OutBytes(f.Was), Is: p.OutBytes(f.Is)}
		if info, err := os.Lstat(f.Path); err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(f.Was)) {
			continue
		}
		if was, err := os.ReadFile(f.Path); err == nil && bytes.Equal(was, f.Was) {
			_ = os.WriteFile(f.Path, f.Is, 0o600) // it exists, with a mode of its own; as far as the server may write
		}
	}
}
