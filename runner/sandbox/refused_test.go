package sandbox

import (
	"strings"
	"syscall"
	"testing"
)

// TestS13WithoutUserNamespacesTheSettingIsNamed: a machine that refuses them runs no server.
func TestS13WithoutUserNamespacesTheSettingIsNamed(t *testing.T) {
	for errno, setting := range map[syscall.Errno]string{
		syscall.ENOSPC: "user.max_user_namespaces", syscall.EUSERS: "user.max_user_namespaces",
		syscall.EPERM: "kernel.unprivileged_userns_clone=1", syscall.EACCES: "kernel.apparmor_restrict_unprivileged_userns=0",
	} {
		if err := refused(errno); !strings.Contains(err.Error(), setting) {
			t.Errorf("%s: %v", errno, err)
		}
	}
}
