// Package oci builds container images from files without a daemon, serves an OCI registry in
// the process, and pushes to registries. hack/images and the tests use it.
package oci

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// epoch is the time of every file in an image, so that equal files give equal digests.
var epoch = time.Unix(0, 0).UTC()

// entry is one file, directory or symbolic link of a tree.
type entry struct {
	mode     fs.FileMode // type and permissions; fs.ModeSticky is kept
	link     string      // target of a symbolic link
	source   string      // file on this machine with the content, or
	content  []byte      // the content itself
	uid, gid int
}

// Tree is the content of one layer. Paths are absolute; missing parent directories are added
// (root, 0755). Layer returns the first error of any method.
type Tree struct {
	entries map[string]entry
	err     error
}

// NewTree returns an empty tree.
func NewTree() *Tree { return &Tree{entries: map[string]entry{}} }

func (t *Tree) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

func (t *Tree) add(name string, e entry) {
	name = path.Clean("/" + name)
	for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
		if _, ok := t.entries[dir]; !ok {
			t.entries[dir] = entry{mode: fs.ModeDir | 0o755}
		}
	}
	t.entries[name] = e
}

// Write adds a file with the given content, owned by root.
func (t *Tree) Write(name string, mode fs.FileMode, content string) {
	t.add(name, entry{mode: mode.Perm(), content: []byte(content)})
}

// Mkdir adds a directory. Its mode may have fs.ModeSticky.
func (t *Tree) Mkdir(name string, mode fs.FileMode, uid, gid int) {
	t.add(name, entry{mode: fs.ModeDir | mode, uid: uid, gid: gid})
}

// Symlink adds a symbolic link.
func (t *Tree) Symlink(name, target string) {
	t.add(name, entry{mode: fs.ModeSymlink | 0o777, link: target})
}

// Copy adds the file source of this machine, owned by root. It follows symbolic links and keeps
// permissions but not set-uid bits.
func (t *Tree) Copy(name, source string) {
	info, err := os.Stat(source)
	if err != nil {
		t.fail(err)
		return
	}
	if !info.Mode().IsRegular() {
		t.fail(fmt.Errorf("copy %s: not a regular file", source))
		return
	}
	// The builder's umask must not matter.
	t.add(name, entry{mode: info.Mode().Perm()&^0o022 | 0o444, source: source})
}

// CopyAll adds everything below the directory source, except what skip is true for and dangling
// symbolic links. skip gets slash-separated paths relative to source.
func (t *Tree) CopyAll(name, source string, skip func(rel string) bool) {
	err := filepath.WalkDir(source, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(source, file)
		if err != nil {
			return err
		}
		switch {
		case rel == ".":
			return nil
		case skip != nil && skip(filepath.ToSlash(rel)):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			t.Mkdir(path.Join(name, rel), 0o755, 0, 0)
		case d.Type() == fs.ModeSymlink:
			return t.copyLink(path.Join(name, rel), file)
		default:
			t.Copy(path.Join(name, rel), file)
		}
		return nil
	})
	if err != nil {
		t.fail(fmt.Errorf("copy %s: %w", source, err))
	}
}

func (t *Tree) copyLink(name, link string) error {
	if _, err := os.Stat(link); err != nil {
		return nil //nolint:nilerr // a dangling link is left out
	}
	target, err := os.Readlink(link)
	if err != nil {
		return err
	}
	t.Symlink(name, target)
	return nil
}

// tar writes the tree in the order of its paths.
func (t *Tree) tar(w io.Writer) error {
	if t.err != nil {
		return t.err
	}
	out := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(t.entries)) {
		if err := t.entries[name].tar(out, strings.TrimPrefix(name, "/")); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return out.Close()
}

func (e entry) tar(out *tar.Writer, name string) error {
	h := &tar.Header{
		Format: tar.FormatPAX, Name: name, Mode: int64(e.mode.Perm()),
		Uid: e.uid, Gid: e.gid, ModTime: epoch, Typeflag: tar.TypeReg, Size: int64(len(e.content)),
	}
	if e.mode&fs.ModeSticky != 0 {
		h.Mode |= 0o1000 // S_ISVTX, inode(7)
	}
	switch {
	case e.mode.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	case e.mode.Type() == fs.ModeSymlink:
		h.Typeflag, h.Linkname = tar.TypeSymlink, e.link
	case e.source != "":
		return e.tarSource(out, h)
	}
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	_, err := out.Write(e.content)
	return err
}

func (e entry) tarSource(out *tar.Writer, h *tar.Header) error {
	f, err := os.Open(e.source)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h.Size = info.Size()
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return err
}
