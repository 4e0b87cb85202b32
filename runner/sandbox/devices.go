package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// devices lists those that every container has (OCI runtime specification,
// "Default Devices").
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// kernel makes the server's /dev, and its /sys, which is the machine's and
// read-only. /proc has to wait for the server's PID namespace.
func (r *root) kernel(path string) error {
	switch path {
	case "/sys":
		return r.sys()
	case "/dev":
		return r.devices()
	default:
		return nil
	}
}

func (r *root) sys() error {
	if err := bindReadOnly("/sys", r.at("/sys")); err != nil {
		return err
	}
	for _, pattern := range maskedSys {
		found, err := filepath.Glob(r.at(pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if err := cover(path); err != nil {
				return err
			}
		}
	}
	return r.hardware()
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
		"pts": {"devpts", "newinstance,ptmxmode=0666,mode=0620,max=256"},
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

// What container engines cover or make read-only because it reaches the machine
// without any capability: the defaults of containerd (oci.WithDefaultMaskedPaths).
var (
	readOnlyProc = []string{"bus", "fs", "irq", "sys", "sysrq-trigger"}
	maskedProc   = []string{
		"acpi", "asound", "interrupts", "kcore", "keys", "latency_stats", "sched_debug", "scsi", "timer_list", "timer_stats",
	}
	maskedSys = []string{"/sys/devices/virtual/powercap", "/sys/firmware", "/sys/devices/system/cpu/cpu*/thermal_throttle"}
)

// protectProc covers or makes read-only the parts of a fresh /proc that reach the
// machine.
func protectProc(proc string) error {
	for _, name := range readOnlyProc {
		path := filepath.Join(proc, name)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if err := bindReadOnly(path, path); err != nil {
			return fmt.Errorf("protect %s: %w", path, err)
		}
	}
	for _, name := range maskedProc {
		if err := cover(filepath.Join(proc, name)); err != nil {
			return err
		}
	}
	return nil
}

// cover mounts an empty directory or /dev/null over path, if it exists.
func cover(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil //nolint:nilerr // nothing to cover
	}
	if info.IsDir() {
		err = unix.Mount("tmpfs", path, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0555")
	} else {
		err = unix.Mount("/dev/null", path, "", unix.MS_BIND, "")
	}
	if err != nil {
		return fmt.Errorf("mask %s: %w", path, err)
	}
	return nil
}

// inUserNamespace reports whether uid 0 is not the machine's own
// (user_namespaces(7), uid_map): the first namespace maps all ids.
func inUserNamespace() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	return err != nil || strings.Join(strings.Fields(string(b)), " ") != "0 0 4294967295"
}
