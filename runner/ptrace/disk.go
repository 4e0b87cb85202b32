package ptrace

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// An installed machine has one disk with the root on it, in place of the layers of a sandbox or a container.
const (
	disk     = "/dev/nvme0n1p2"
	diskType = "ext4"
	// extMagic is the file system's type (statfs(2)), and blockSize the size of its blocks in bytes.
	extMagic, blockSize = 0xef53, 4096
	// The blocks of a disk of 476 GiB and its inodes, all and free.
	diskBlocks, freeBlocks = 124_820_734, 71_033_518
	diskNodes, freeNodes   = 31_227_904, 29_480_117
)

// apart lists the directories that have file systems of their own on an installed machine, too.
var apart = []string{"/proc", "/sys", "/dev", "/run", "/tmp"}

// installed rewrites a table of mounts, of either form (proc_pid_mounts(5), proc_pid_mountinfo(5)).
func installed(_ *clock, _ *task, said []byte) []byte {
	var lines [][]byte
	rooted := false
	for line := range bytes.Lines(said) {
		fields := strings.Fields(string(line))
		split := slices.Index(fields, "-")
		point := 1
		if split > 0 {
			point = 4
		}
		switch {
		case len(fields) < 6 || split > 0 && len(fields) < split+4:
			return nil
		case fields[point] == "/" && rooted: // the old root, or one stacked upon it
		case fields[point] == "/" && split > 0:
			rooted = true
			lines = append(lines, []byte(strings.Join([]string{fields[0], "1", "259:2", "/", "/", "rw,relatime", "shared:1", "-", diskType, disk, "rw,errors=remount-ro"}, " ")+"\n"))
		case fields[point] == "/":
			rooted = true
			lines = append(lines, []byte(disk+" / "+diskType+" rw,relatime,errors=remount-ro 0 0\n"))
		case stays(fields[point]):
			lines = append(lines, line)
		}
	}
	return bytes.Join(lines, nil)
}

// stays reports whether a mount point stays in the table. Those that cover parts of /proc and /sys do not.
func stays(path string) bool {
	return slices.Contains(apart, path) || slices.Contains([]string{"/dev/pts", "/dev/shm", "/sys/fs/cgroup"}, path)
}

// tellDisk answers statfs(2) and fstatfs(2) for what is on the disk.
func tellDisk(t *tracer, k *task, of *timed) func() {
	path := ""
	if of.Name == "statfs" {
		text, _, _ := t.printer.string(k, k.arguments[0])
		path = string(text)
	} else {
		path = string(t.printer.names.descriptor(k, int(int32(k.arguments[0])))) //nolint:gosec // an int of the kernel's
	}
	if places.WithinAny(path, apart) {
		return nil
	}
	return func() {
		raw := make([]byte, 120) // struct statfs of 64 bits
		if t.returned(k) < 0 || peek(k.pid, k.arguments[1], raw) < len(raw) {
			return
		}
		if kind := binary.NativeEndian.Uint64(raw); kind != unix.TMPFS_MAGIC && kind != unix.OVERLAYFS_SUPER_MAGIC {
			return
		}
		for i, value := range []uint64{extMagic, blockSize, diskBlocks, freeBlocks, freeBlocks - diskBlocks/20, diskNodes, freeNodes} {
			binary.NativeEndian.PutUint64(raw[8*i:], value)
		}
		_ = poke(k.pid, k.arguments[1], raw) // a task that is gone tells by its end
	}
}
