package sandbox

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// mountPoint is one line of /proc/PID/mountinfo.
type mountPoint struct {
	path   string
	fstype string
}

// kernelFilesystems lists the types that hold the state of the kernel, and no files.
var kernelFilesystems = map[string]bool{
	"autofs": true, "binfmt_misc": true, "bpf": true, "cgroup": true, "cgroup2": true, "configfs": true,
	"debugfs": true, "devpts": true, "devtmpfs": true, "efivarfs": true, "fusectl": true, "hugetlbfs": true,
	"mqueue": true, "nsfs": true, "proc": true, "pstore": true, "rpc_pipefs": true, "securityfs": true,
	"selinuxfs": true, "sysfs": true, "tracefs": true,
}

// holdsFiles reports whether a mount may have files of a server.
func (m mountPoint) holdsFiles() bool { return !kernelFilesystems[m.fstype] }

// readMounts parses mountinfo (proc_pid_mountinfo(5)): the fifth field is the
// mount point, and the type stands behind the separator "-".
func readMounts(r io.Reader) ([]mountPoint, error) {
	var mounts []mountPoint
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		for i := 6; i < len(fields)-1; i++ {
			if fields[i] == "-" {
				mounts = append(mounts, mountPoint{path: filepath.Clean(unescape(fields[4])), fstype: fields[i+1]})
				break
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the mounts: %w", err)
	}
	return mounts, nil
}

// unescape decodes \040 and the kernel's other escapes of white space.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
