package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// A directory of more than maxEntries entries is shown as a whole, and what the view treats
// by itself is mounted over it: a mount for each entry would take too long.

// crowded shows a directory whose entries are too many to be shown one by one.
func (r *root) crowded(path string, shown []string) error {
	if _, ruled := r.rules[path]; ruled || path == "/" {
		return fmt.Errorf("show %s: the server would see %d of its entries, more than %d: "+
			"move some of them into a directory of their own, or set HOME to another one", path, len(shown), maxEntries)
	}
	var stat syscall.Stat_t
	if err := syscall.Stat(r.at(path), &stat); err != nil {
		return err
	}
	var like syscall.Stat_t
	if err := syscall.Lstat(path, &like); err != nil {
		return err
	}
	if err := r.tree(path, &like); err != nil {
		return err
	}
	if err := r.readmit(path, &stat, &like); err != nil {
		return err
	}
	return r.entries(slices.DeleteFunc(shown, r.plain))
}

// readmit gives a crowded directory the owner and the mode that mkdir chose for it. If it
// cannot be changed, and only its owner may enter it, it shows only what the view treats by
// itself.
func (r *root) readmit(path string, chosen, like *syscall.Stat_t) error {
	switch {
	case r.readOnly == nil:
		_ = os.Chown(r.at(path), int(chosen.Uid), int(chosen.Gid)) // as in mkdirLike
		return syscall.Chmod(r.at(path), chosen.Mode&0o7777)
	case chosen.Mode == like.Mode:
		return nil
	}
	fmt.Fprintf(os.Stderr, "%sthe server sees of %s only what its command names: it has more than %d entries, and only its owner may list them\n", notePrefix, path, maxEntries)
	return unix.Unmount(r.at(path), unix.MNT_DETACH)
}

// plain reports whether showing the directory of a path shows the path.
func (r *root) plain(path string) bool {
	_, mounted := r.mountAt(path)
	return !mounted && r.treat(path) == whole && !r.leadsThere(path) && !slices.Contains(r.keep, path)
}

// replace covers a directory that is shown already by an empty one of ours.
func (r *root) replace(path string, like *syscall.Stat_t) error {
	r.layers++
	layer := filepath.Join(r.dir, "layers", strconv.Itoa(r.layers))
	if err := mkdirLike(layer, like); err != nil {
		return err
	}
	return unix.Mount(layer, r.at(path), "", unix.MS_BIND, "")
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
