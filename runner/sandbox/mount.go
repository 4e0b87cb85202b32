package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Limits of what the server may write, all of it in memory, and of how many entries
// of a directory are mounted one by one.
const (
	writable   = "size=1g,mode=0755"
	temporary  = "size=256m,mode=1777"
	maxEntries = 4096
	// maxCopy is the size in bytes up to which a single file is copied.
	maxCopy = 1 << 20
)

// root builds the server's root directory. The caller has a mount namespace of its
// own and CAP_SYS_ADMIN in it.
type root struct {
	view
	// dir has the root in dir/root, and the writable layers in dir/layers.
	dir    string
	layers int
	// private are directories of the audit that the server has no business in.
	private []string
	// sockets are the machine's, to which a server could connect where they are bound:
	// in an overlay nobody listens to them.
	sockets []string
	// owner gives files to the server where it does not own them.
	owner *owner
	// readOnly says why overlays could not be had; nil when they could.
	readOnly error
}

// memory mounts the memory for what the server writes.
func (r *root) memory() error {
	if err := unix.Mount("tmpfs", r.dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, writable); err != nil {
		return fmt.Errorf("mount memory for what the server writes: %w", err)
	}
	for _, name := range []string{"root", "layers", "nothing"} {
		if err := os.Mkdir(filepath.Join(r.dir, name), 0o755); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(r.dir, "empty"), nil, 0o444)
}

// build mounts everything below r.dir/root.
func (r *root) build() error {
	if err := r.memory(); err != nil {
		return err
	}
	// pivot_root(2) wants a mount point.
	if err := unix.Mount("tmpfs", r.at("/"), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, writable); err != nil {
		return fmt.Errorf("mount the server's root: %w", err)
	}
	if err := r.directory("/"); err != nil {
		return err
	}
	for dir, mode := range map[string]fs.FileMode{"/tmp": 0o777 | fs.ModeSticky, "/proc": 0o555} {
		if err := r.ensure(dir, mode); err != nil {
			return err
		}
	}
	return r.mask()
}

// at returns where a path of the server is while its root is built.
func (r *root) at(path string) string { return filepath.Join(r.dir, "root", path) }

// directory shows a directory entry by entry.
func (r *root) directory(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil // nor could the server have read it
	}
	if err != nil {
		return fmt.Errorf("show %s: %w", path, err)
	}
	var shown []string
	for _, e := range entries {
		if child := filepath.Join(path, e.Name()); r.treat(child) != hide {
			shown = append(shown, child)
		}
	}
	if len(shown) > maxEntries {
		return r.crowded(path, shown)
	}
	return r.entries(shown)
}

func (r *root) entries(paths []string) error {
	for _, path := range paths {
		if err := r.entry(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("show %s: %w", path, err)
		}
	}
	return nil
}

// entry shows one path as the view wants it.
func (r *root) entry(path string) error {
	var stat syscall.Stat_t
	if err := syscall.Lstat(path, &stat); err != nil {
		return err
	}
	how := r.treat(path)
	switch stat.Mode & syscall.S_IFMT {
	case syscall.S_IFLNK:
		if how == hide {
			return nil
		}
		return r.symlink(path)
	case syscall.S_IFREG:
		if how == hide {
			return nil
		}
		return r.file(path, &stat)
	case syscall.S_IFDIR:
	default:
		return nil // sockets, pipes and devices lead out of the sandbox
	}
	if how == hide {
		return nil
	}
	if err := r.mkdir(path, &stat); err != nil {
		return err
	}
	if slices.Contains(tempDirs, path) {
		if err := unix.Mount("tmpfs", r.at(path), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, temporary); err != nil {
			return fmt.Errorf("mount memory for temporary files: %w", err)
		}
	}
	switch how {
	case whole:
		return r.tree(path, &stat)
	case descend:
		return r.directory(path)
	case special:
		return r.kernel(path)
	default:
		return nil
	}
}

// symlink shows a link, unless it is shown already, as part of a crowded directory.
func (r *root) symlink(path string) error {
	target, err := os.Readlink(path)
	if err == nil {
		err = os.Symlink(target, r.at(path))
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// mkdir makes a directory of the server with the machine's mode. The server owns its own
// directories, and can enter those above them.
func (r *root) mkdir(path string, like *syscall.Stat_t) error {
	if r.owner != nil && r.leadsThere(path) {
		open := *like
		open.Mode |= 0o005 // interpreters list the directory of a program
		like = &open
	}
	err := mkdirLike(r.at(path), like)
	if errors.Is(err, fs.ErrExist) {
		err = r.replace(path, like)
	}
	if err != nil {
		return err
	}
	if r.theirs(path) || r.onTheWay(path) {
		return r.owner.own(r.at(path))
	}
	return r.owner.lend(r.at(path), like.Uid, like.Mode)
}

// mkdirLike makes a directory with the mode and owner of another, unless the user
// namespace does not map that owner.
func mkdirLike(dir string, like *syscall.Stat_t) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	_ = os.Chown(dir, int(like.Uid), int(like.Gid)) // see above
	return syscall.Chmod(dir, like.Mode&0o7777)
}

// file shows a single file, which cannot have a writable layer: as a copy, or if it
// is large as itself, read-only.
func (r *root) file(path string, stat *syscall.Stat_t) error {
	if r.readOnly != nil && isThere(r.at(path)) {
		return r.bindReadOnly(path) // in a crowded directory, which cannot be written to
	}
	if stat.Size > maxCopy {
		if err := os.WriteFile(r.at(path), nil, 0o444); err != nil {
			return err
		}
		return r.bindReadOnly(path)
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrPermission) {
		return nil // nor could the server have read it
	}
	if err != nil {
		return err
	}
	if err := os.WriteFile(r.at(path), content, 0o600); err != nil {
		return err
	}
	_ = os.Chown(r.at(path), int(stat.Uid), int(stat.Gid)) // as in mkdirLike
	give := func() error { return r.owner.lend(r.at(path), stat.Uid, stat.Mode) }
	if r.theirs(path) {
		give = func() error { return r.owner.own(r.at(path)) }
	}
	return errors.Join(give(), syscall.Chmod(r.at(path), stat.Mode&0o7777))
}

// tree shows a directory and all below it. The server's changes go to a layer in
// memory; where the kernel refuses overlays, the tree is read-only.
func (r *root) tree(path string, stat *syscall.Stat_t) error {
	if r.readOnly == nil {
		err := r.overlay(path, stat)
		if err == nil {
			return nil
		}
		r.readOnly = fmt.Errorf("the kernel refuses overlays (%s: %w): the server cannot change any file of the machine", path, err)
	}
	return r.bindReadOnly(path)
}

// bindReadOnly shows a path of the machine read-only, owned by the server if it belongs
// to the server's user.
func (r *root) bindReadOnly(path string) error {
	if r.owner != nil && r.theirs(path) {
		err := r.owner.mount(path, r.at(path), unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
		if err == nil {
			return nil
		}
		fmt.Fprintf(os.Stderr, "%s%v: the server reads of it what everybody may\n", notePrefix, err)
	}
	return bindReadOnly(path, r.at(path))
}

func (r *root) overlay(path string, stat *syscall.Stat_t) error {
	r.layers++
	layer := filepath.Join(r.dir, "layers", strconv.Itoa(r.layers))
	if err := os.Mkdir(layer, 0o700); err != nil {
		return err
	}
	upper := filepath.Join(layer, "upper")
	if err := mkdirLike(upper, stat); err != nil {
		return err
	}
	below, err := r.lower(path, layer)
	if err != nil {
		return err
	}
	defer below.drop()
	give := func() error { return r.owner.lendTree(path, upper, stat, lendDepth) }
	if below.mapped {
		give = func() error { return r.owner.own(upper) }
	}
	if err := give(); err != nil {
		return err
	}
	return mountOverlay(layer, below.name, r.at(path))
}

// mountOverlay mounts an overlay whose changes go to layer/upper.
func mountOverlay(layer, below, at string) error {
	if err := os.Mkdir(filepath.Join(layer, "work"), 0o700); err != nil {
		return err
	}
	// By descriptor and by relative path: a comma or colon in a name would be
	// taken for syntax.
	if err := os.Chdir(layer); err != nil {
		return err
	}
	options := "upperdir=upper,workdir=work,lowerdir=" + below
	if os.Getuid() != 0 || inUserNamespace() {
		options += ",userxattr"
	}
	return unix.Mount("overlay", at, "overlay", unix.MS_NOSUID|unix.MS_NODEV, options)
}

// lower is the lower layer of an overlay, by a name without a comma or colon.
type lower struct {
	name   string
	mapped bool
	drop   func()
}

// lower opens the lower layer for a path. If that belongs to the server's user, it is
// mounted in the directory of the layer with the server as its owner.
func (r *root) lower(path, layer string) (lower, error) {
	if r.owner != nil && r.theirs(path) {
		at := filepath.Join(layer, "lower")
		if err := os.Mkdir(at, 0o700); err != nil {
			return lower{}, err
		}
		err := r.owner.mount(path, at, 0)
		if err == nil {
			// The overlay keeps it.
			return lower{"lower", true, func() { _ = unix.Unmount(at, unix.MNT_DETACH) }}, nil
		}
		fmt.Fprintf(os.Stderr, "%s%v: the server reads of it what everybody may\n", notePrefix, err)
	}
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	return lower{"/proc/self/fd/" + strconv.Itoa(fd), false, func() { _ = unix.Close(fd) }}, err
}

// bindReadOnly mounts from at to, read-only. mount_setattr(2) adds the flags, and
// keeps those that a user namespace has locked.
func bindReadOnly(from, to string) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(unix.AT_FDCWD, to, unix.AT_RECURSIVE, &attr); err != nil {
		return fmt.Errorf("make read-only: %w", err)
	}
	return nil
}

// mask covers the files that only root may read, and what is the audit's own.
func (r *root) mask() error {
	paths := slices.Clone(r.private)
	if r.readOnly != nil {
		paths = append(paths, r.sockets...)
	}
	for _, pattern := range masked {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		paths = append(paths, found...)
	}
	for _, path := range paths {
		info, err := os.Lstat(r.at(path))
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			continue // not shown, or shown where it leads
		}
		cover := filepath.Join(r.dir, "empty")
		if info.IsDir() {
			cover = filepath.Join(r.dir, "nothing")
		}
		if err := bindReadOnly(cover, r.at(path)); err != nil {
			return fmt.Errorf("mask %s: %w", path, err)
		}
	}
	return nil
}
