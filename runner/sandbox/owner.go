package sandbox

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/places"
)

// A server that root starts is uid 0 in a user namespace of its own. On the machine it
// is serverID, an id that owns nothing: what only root may read or change, it may not.
// The files that it was started for, root's own or those of whoever called sudo, get
// that id by mounts that map their owner to it (mount_setattr(2), ID-mapped mounts).

// serverID is above every range that distributions and systemd hand out
// (https://systemd.io/UIDS-GIDS), and fits into 31 bits.
const (
	serverID = 1900061713
	// serverIDs is how many ids the server knows, as a container does.
	serverIDs = 65536
)

// owner maps the owners of files to the server's id. Nil maps nothing.
type owner struct {
	// namespaces are the user namespaces of the maps, by the ids of who owns a tree.
	namespaces map[[2]uint32]*os.File
	// uid and gid are the server's in its user namespace, for files of ours.
	uid, gid int
}

// newOwner returns an owner if the machine's root starts the server, and nil otherwise.
// The error says why the given directories cannot be mapped.
func newOwner(dirs []string) (*owner, error) {
	if !mapsIDs() {
		return nil, nil
	}
	o := &owner{namespaces: map[[2]uint32]*os.File{}}
	for _, dir := range dirs {
		fd, err := o.clone(dir, 0)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		_ = unix.Close(fd) // it could be had
	}
	return o, nil
}

// own gives a file of ours to the server.
func (o *owner) own(path string) error {
	if o == nil {
		return nil
	}
	return os.Lchown(path, serverID+o.uid, serverID+o.gid)
}

// ownDecoys gives the server its home and what was planted there.
func (o *owner) ownDecoys(home string, set decoy.Set) error {
	if o == nil {
		return nil
	}
	tree, err := os.OpenRoot(home)
	if err != nil {
		return err
	}
	defer func() { _ = tree.Close() }() // opened for its name only
	if err := tree.Chown(".", serverID+o.uid, serverID+o.gid); err != nil {
		return err
	}
	for _, file := range slices.Concat(set.Files, set.Around) {
		if !set.Stands(file, tree) {
			continue // of another place, or somebody's own
		}
		name, err := filepath.Rel(set.Home, file.Path)
		if err != nil {
			return err
		}
		for ; name != "."; name = filepath.Dir(name) {
			if err := tree.Lchown(name, serverID+o.uid, serverID+o.gid); err != nil {
				return err
			}
		}
	}
	return nil
}

// lend gives the server a file or directory of root's that everybody may read: what root
// would change there the server changes, in its own layer. What only root may read stays
// out of its reach.
func (o *owner) lend(path string, uid, mode uint32) error {
	if o == nil || uid != 0 || mode&readable(mode) != readable(mode) {
		return nil
	}
	return o.own(path)
}

// readable returns the permission bits that let everybody read a file of a mode.
func readable(mode uint32) uint32 {
	if mode&syscall.S_IFMT == syscall.S_IFDIR {
		return 0o005
	}
	return 0o004
}

// lendDepth is how deep directories of a tree are lent: it reaches /usr/lib/systemd/system.
const lendDepth = 3

// lendTree lends the directories of a tree by making them in the upper layer of its
// overlay, which shows them with what is below.
func (o *owner) lendTree(path, upper string, stat *syscall.Stat_t, depth int) error {
	if o == nil || stat.Uid != 0 || stat.Mode&0o005 != 0o005 {
		return nil
	}
	if err := o.own(upper); err != nil || depth == 0 {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		var below syscall.Stat_t
		at := filepath.Join(path, entry.Name())
		if !entry.IsDir() || syscall.Lstat(at, &below) != nil || below.Dev != stat.Dev || below.Uid != 0 || below.Mode&0o005 != 0o005 {
			continue
		}
		to := filepath.Join(upper, entry.Name())
		if err := mkdirLike(to, &below); err != nil {
			return err
		}
		if err := o.lendTree(at, to, &below, depth-1); err != nil {
			return err
		}
	}
	return nil
}

// clone returns a detached mount of path in which the server owns what the path's owner
// has. It adds the attributes (mount_setattr(2)).
func (o *owner) clone(path string, attributes uint64) (int, error) {
	var stat unix.Stat_t
	if err := unix.Lstat(path, &stat); err != nil {
		return -1, err
	}
	namespace, err := o.namespace(stat.Uid, stat.Gid)
	if err != nil {
		return -1, err
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return -1, fmt.Errorf("clone the mount of %s: %w", path, err)
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP | attributes, Userns_fd: uint64(namespace.Fd())}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		_ = unix.Close(fd) // of no use
		return -1, fmt.Errorf("map the owner of %s: %w", path, err)
	}
	return fd, nil
}

func (o *owner) mount(from, to string, attributes uint64) error {
	fd, err := o.clone(from, attributes)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // it is mounted, or of no use
	return unix.MoveMount(fd, "", unix.AT_FDCWD, to, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// namespace makes the user namespace that swaps the ids of an owner with the server's.
// A process of our own holds it open until we have a descriptor.
func (o *owner) namespace(uid, gid uint32) (*os.File, error) {
	ids := [2]uint32{uid, gid}
	if file, ok := o.namespaces[ids]; ok {
		return file, nil
	}
	cmd := exec.Command(self, stageHold)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER, UidMappings: swap(uid), GidMappings: swap(gid),
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, noUserNamespace(err)
	}
	file, err := os.Open(fmt.Sprintf("/proc/%d/ns/user", cmd.Process.Pid))
	_ = stdin.Close() // it ends
	_ = cmd.Wait()
	if err != nil {
		return nil, err
	}
	o.namespaces[ids] = file
	return file, nil
}

// hold is the stage that lives until its standard input ends.
func hold([]string) (int, error) {
	_, _ = os.Stdin.Read(make([]byte, 1))
	return 0, nil
}

// swap is the identity mapping, with an id on disk and the server's exchanged.
func swap(id uint32) []syscall.SysProcIDMap {
	from, to := int(min(id, serverID)), int(max(id, serverID))
	all := []syscall.SysProcIDMap{
		{ContainerID: 0, HostID: 0, Size: from},
		{ContainerID: from, HostID: to, Size: 1},
		{ContainerID: from + 1, HostID: from + 1, Size: to - from - 1},
		{ContainerID: to, HostID: from, Size: 1},
		{ContainerID: to + 1, HostID: to + 1, Size: math.MaxUint32 - to - 1},
	}
	if from == to {
		all = []syscall.SysProcIDMap{{Size: math.MaxUint32}}
	}
	return slices.DeleteFunc(all, func(m syscall.SysProcIDMap) bool { return m.Size <= 0 })
}

// ids says which uid and gid the server has.
type ids string

const (
	// rootsOwn: those of root, whose files cannot be mapped, or of the user who started the audit.
	rootsOwn ids = "root"
	// asRoot: it is uid 0 inside, and serverID outside.
	asRoot ids = "mapped"
	// asPerson: the same, with personID in place of 0.
	asPerson ids = "person"
)

// ids are those of the server.
func (s spec) ids(mapped bool) ids {
	switch {
	case !mapped:
		return rootsOwn
	case s.Image != nil:
		return idsOf(s.Image.UID, s.Image.GID)
	case s.Person.Name != "":
		return asPerson
	}
	return asRoot
}

// idsOf returns those of a user of an image.
func idsOf(uid, gid int) ids { return ids(fmt.Sprintf("%d:%d", uid, gid)) }

// ofImage returns the ids of a user of an image; root's for others.
func (as ids) ofImage() (uid, gid uint32) {
	if _, err := fmt.Sscanf(string(as), "%d:%d", &uid, &gid); err != nil {
		return 0, 0
	}
	return uid, gid
}

// userNamespace sets the server's user namespace, which only root needs: without root the outer
// stage has one.
func (as ids) userNamespace(attr *syscall.SysProcAttr) {
	if os.Getuid() != 0 {
		return
	}
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}}
	attr.Credential = &syscall.Credential{}
	switch as {
	case rootsOwn:
	case asRoot:
		ids = []syscall.SysProcIDMap{{ContainerID: 0, HostID: serverID, Size: serverIDs}}
	case asPerson:
		ids = []syscall.SysProcIDMap{
			{ContainerID: 0, HostID: serverID + personID, Size: 1}, {ContainerID: 1, HostID: serverID + 1, Size: personID - 1},
			{ContainerID: personID, HostID: serverID, Size: 1}, {ContainerID: personID + 1, HostID: serverID + personID + 1, Size: serverIDs - personID - 1},
		}
		attr.Credential = &syscall.Credential{Uid: personID, Gid: personID}
		attr.AmbientCaps = allCapabilities() // without root an exec drops all others
	default: // of an image
		ids = []syscall.SysProcIDMap{{ContainerID: 0, HostID: serverID, Size: serverIDs}}
		uid, gid := as.ofImage()
		attr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
		attr.AmbientCaps = allCapabilities() // as for a person
	}
	attr.Cloneflags |= syscall.CLONE_NEWUSER
	attr.UidMappings, attr.GidMappings = ids, ids
	attr.GidMappingsEnableSetgroups = true // to have none of root's
}

// allCapabilities lists the capabilities that the kernel has.
func allCapabilities() (all []uintptr) {
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		all = append(all, c)
	}
	return all
}

// forbidUserNamespaces keeps a server from gaining all capabilities in a user namespace of
// its own. Attempts fail in the kernel, where the tracer sees them.
func forbidUserNamespaces(proc string) error {
	if err := write(filepath.Join(proc, "sys/user/max_user_namespaces"), 0); err != nil {
		return fmt.Errorf("forbid user namespaces to the server: %w", err)
	}
	return nil
}

// noUserNamespace explains why root could not make a user namespace.
func noUserNamespace(err error) error {
	return fmt.Errorf("make the server's user namespace: %w: raise user.max_user_namespaces (sysctl)", err)
}

// systemDirs belong to the machine, whatever the command names.
var systemDirs = []string{"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/media", "/mnt", "/opt", "/proc", "/run", "/sbin", "/srv", "/sys", "/tmp", "/usr", "/var", "/var/tmp"}

// theirs reports whether a path belongs to the user whom the server is for: it is in
// the home, or below what the command names.
func (v view) theirs(path string) bool {
	within := func(dir string) bool { return places.Within(path, dir) }
	return within(v.home) || within("/root") ||
		slices.ContainsFunc(v.keep, func(kept string) bool {
			return within(kept) && !slices.Contains(systemDirs, kept)
		})
}

// withholds reports whether the server cannot read a file: it is not shown, or only its owner may read it, and that is
// not the server.
func (v view) withholds(path string) bool { return v.hides(path) || v.isForeign(path) }

// isForeign reports whether the server of root, which owns nothing of the machine, has no right to a path.
func (v view) isForeign(path string) bool {
	return os.Getuid() == 0 && !isPublic(path) && !v.theirs(path)
}

// onTheWay reports whether a directory is shown only because it is above what the command
// names: the server gets a directory of ours with nothing else in it.
func (v view) onTheWay(path string) bool {
	_, ruled := v.rules[filepath.Dir(path)]
	return ruled && v.leadsThere(path) && !slices.Contains(systemDirs, path)
}

// apartFrom returns the paths that the server gets without their neighbours: the working directory, the tree that the
// program was installed in, and paths of the command that are not world-readable.
func apartFrom(dir string, keep []string) []string {
	apart := slices.DeleteFunc(slices.Clone(keep), func(path string) bool {
		return path == dir || isPublic(path) && !isInstallation(path)
	})
	return slices.DeleteFunc(append(apart, dir), func(path string) bool { return slices.Contains(systemDirs, path) })
}

// isPublic reports whether a path is world-readable or does not exist.
func isPublic(path string) bool {
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o004 == 0 {
		return err != nil
	}
	for dir := filepath.Dir(path); dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o001 == 0 {
			return false
		}
	}
	return true
}

// leadsThere reports whether a path is above what the command names.
func (v view) leadsThere(path string) bool {
	return slices.ContainsFunc(append(slices.Clone(v.keep), v.home), func(kept string) bool { return places.Below(kept, path) })
}

// note describes why the server has root's own access to files.
func (o *owner) note(err error) string {
	return strings.TrimSpace(fmt.Sprintf("the server reads and writes files as root, because their owner cannot be mapped (%v): "+
		"run as another user, or keep the server and its home on ext4, xfs, btrfs or tmpfs", err))
}
