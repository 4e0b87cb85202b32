package sandbox

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/image"
)

// A server of an image sees the image's files in place of the machine's, with its own changes on top, and has the same home
// and /tmp as in a Pod. It runs as the image's user: the id U of the image is serverID+U on the machine. Somebody who is not
// root has one id only, so there the server has that, and all files belong to it.

// searchPath is the PATH of an image that sets none, as container engines have it.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// NewForImage makes a launcher for a command in an unpacked image.
func NewForImage(of image.Image, command []string, traceDir string) (*Launcher, error) {
	home, err := resolveIn(of.Root, homeless)
	if err != nil {
		return nil, fmt.Errorf("find a home in the image: %w", err)
	}
	decoys, err := decoy.New(home, true)
	if err != nil {
		return nil, err
	}
	l, err := New(command, traceDir)
	if err != nil {
		return nil, err
	}
	l.image, l.dir, l.home, l.person, l.decoys = &of, of.Dir, home, person{}, decoys
	return l, nil
}

// Owner returns who owns the files of an image on this machine; nil if that can only be the user of this process.
func Owner() image.Owner {
	if !mapsIDs() {
		return nil
	}
	return func(uid, gid int) (int, int) { return serverID + uid, serverID + gid }
}

// mapsIDs reports whether a server can have other ids than this process.
func mapsIDs() bool { return os.Getuid() == 0 && !inUserNamespace() }

// environ returns the environment that a server's is made of. Of an image's, the stages need PATH: the rest would change how
// the machine's programs run, and is set by Env.
func (l *Launcher) environ() []string {
	if l.image == nil {
		return os.Environ()
	}
	path := searchPath
	for _, entry := range l.image.Env {
		if strings.HasPrefix(entry, "PATH=") {
			path = entry
		}
	}
	return []string{path}
}

// imageEnv returns the variables that the image sets, and those of the network that it must not set otherwise. The home is ours.
func (l *Launcher) imageEnv(how audit.Start) []string {
	if l.image == nil {
		return nil
	}
	own := slices.DeleteFunc(slices.Clone(l.image.Env), func(entry string) bool {
		name, _, set := strings.Cut(entry, "=")
		return !set || name == "" || name == "HOME"
	})
	return append(own, l.networkEnv(how)...)
}

// tracerOf finds the tracer on the machine's PATH, which the stages of an image do not have.
func (l *Launcher) tracerOf(command []string) []string {
	program, err := exec.LookPath(command[0])
	if l.image == nil || err != nil {
		return command // the stage that starts it will say so
	}
	return append([]string{program}, command[1:]...)
}

// fromImage builds the root from an image's files.
func (r *root) fromImage(of image.Image) error {
	if err := r.memory(); err != nil {
		return err
	}
	if err := r.overImage(of.Root); err != nil {
		return fmt.Errorf("the kernel refuses an overlay, in which a server can change files of its image: %w", err)
	}
	for _, mount := range []struct {
		at, options string
		mode        fs.FileMode
	}{
		{"/proc", "", 0o555}, {"/sys", "", 0o555}, {"/dev", "mode=0755", 0o755}, {"/tmp", temporary, 0o777 | fs.ModeSticky},
	} {
		if err := r.ours(mount.at, mount.mode); err != nil {
			return err
		}
		if mount.options == "" {
			continue
		}
		if err := unix.Mount("tmpfs", r.at(mount.at), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, mount.options); err != nil {
			return fmt.Errorf("mount %s: %w", mount.at, err)
		}
	}
	for _, path := range []string{"/sys", "/dev"} {
		if err := r.kernel(path); err != nil {
			return err
		}
	}
	servers, err := os.ReadFile("/etc/resolv.conf")
	if err != nil {
		return nil //nolint:nilerr // nor has the machine one
	}
	return r.place("/etc/resolv.conf", servers)
}

// overImage mounts an overlay over the image's files as the server's root.
func (r *root) overImage(files string) error {
	layer := filepath.Join(r.dir, "layers", "image")
	if err := os.Mkdir(layer, 0o700); err != nil {
		return err
	}
	var stat unix.Stat_t
	if err := unix.Stat(files, &stat); err != nil {
		return err
	}
	upper := filepath.Join(layer, "upper")
	if err := os.Mkdir(upper, 0o755); err != nil {
		return err
	}
	if err := os.Lchown(upper, int(stat.Uid), int(stat.Gid)); err != nil {
		return err
	}
	fd, err := unix.Open(files, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // the overlay keeps it
	return mountOverlay(layer, "/proc/self/fd/"+strconv.Itoa(fd), r.at("/"))
}

// ours makes a directory in place of a file or a link of the image.
func (r *root) ours(path string, mode fs.FileMode) error {
	if info, err := os.Lstat(r.at(path)); err == nil && !info.IsDir() {
		if err := os.Remove(r.at(path)); err != nil {
			return err
		}
	}
	return r.ensure(path, mode)
}
