package shim_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// asUser makes cmd run under another uid than ours: root changes it, others use a
// user namespace with a mapped one.
func asUser(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: serverUID, Gid: serverUID}}
		return
	}
	t.Skip("only root can start a shim under another uid")
}
