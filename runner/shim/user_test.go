package shim_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// asUser lets cmd run under another uid than ours: as root by changing it, else
// in a user namespace with a mapped one.
func asUser(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: serverUID, Gid: serverUID}}
		return
	}
	t.Skip("only root can start a shim under another uid")
}
