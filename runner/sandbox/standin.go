package sandbox

import "golang.org/x/sys/unix"

// standInProgram is where the server sees our own program, which may lie in a home that it
// does not see.
const standInProgram = "/run/marlow/stand-in"

// placeSelf makes our own program a file of the server's root.
func (r *root) placeSelf() error {
	_ = unix.Unmount(r.at(standInProgram), unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW) // that of an earlier launch, if there was one
	if err := r.place(standInProgram, nil); err != nil {
		return err
	}
	return bindReadOnly(self, r.at(standInProgram))
}
