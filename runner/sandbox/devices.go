package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// devices are those that every container has (OCI runtime specification,
// "Default Devices").
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// kernel makes the server's /dev, and its /sys, which is the machine's and
// read-only. /proc has to wait for the server's PID namespace.
func (r *root) kernel(path string) error {
	switch path {
	case "/sys":
		return bindReadOnly(path, r.at(path))
	case "/dev":
		return r.devices()
	default:
		return nil
	}
}

func (r *root) devices() error {
	dev := r.at("/dev")
	for _, name := range devices {
		file := filepath.Join(dev, name)
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			return err
		}
		if err := unix.Mount(filepath.Join("/dev", name), file, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("bind device %s: %w", name, err)
		}
	}
	for name, target := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
		"ptmx": "pts/ptmx",
	} {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	for name, mount := range map[string]struct{ fstype, options string }{
		"pts": {"devpts", "newinstance,ptmxmode=0666,mode=0620"},
		"shm": {"tmpfs", "size=64m,mode=1777"},
	} {
		dir := filepath.Join(dev, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(mount.fstype, dir, mount.fstype, unix.MS_NOSUID|unix.MS_NOEXEC, mount.options); err != nil {
			return fmt.Errorf("mount /dev/%s: %w", name, err)
		}
	}
	return nil
}

// protectProc makes those parts of a fresh /proc unreadable or unchangeable by
// which a process of uid 0 could reach the machine without any capability: the
// lists of the OCI runtime specification as container engines use them.
func protectProc(proc string) error {
	for _, name := range []string{"bus", "fs", "irq", "sys", "sysrq-trigger"} {
		path := filepath.Join(proc, name)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if err := bindReadOnly(path, path); err != nil {
			return fmt.Errorf("protect %s: %w", path, err)
		}
	}
	for _, name := range []string{"kcore", "keys", "latency_stats", "timer_list", "sched_debug"} {
		path := filepath.Join(proc, name)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if err := unix.Mount("/dev/null", path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mask %s: %w", path, err)
		}
	}
	return nil
}

// inUserNamespace tells whether uid 0 is not the machine's own
// (user_namespaces(7), uid_map): the first namespace maps all ids.
func inUserNamespace() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	return err != nil || strings.Join(strings.Fields(string(b)), " ") != "0 0 4294967295"
}
