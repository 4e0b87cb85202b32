// Looks into the user's key rings, which belong to no namespace.
//
// result: EPERM
// finding: MCPA-EVADE-001 Medium
// expect: evade(EPERM) keyctl
// expect: evade(EPERM) add_key
#include "conformance.h"

static int act(void) {
	syscall(SYS_add_key, "user", "x", "y", 1, -4);
	return failed(syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -4 /* the user's */, 0));
}
