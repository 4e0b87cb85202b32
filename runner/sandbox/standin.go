package sandbox

import (
	"golang.org/x/sys/unix"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// standInProgram is our own program's path in the server's root: its home may be hidden
// there.
const standInProgram = inputs.LocalDir + "/stand-in"

// placeSelf makes our own program a file at a path of the server's root.
func (r *root) placeSelf(path string) error {
	_ = unix.Unmount(r.at(path), unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) // of an earlier launch
	if err := r.place(path, nil); err != nil {
		return err
	}
	return bindReadOnly(self, r.at(path))
}
