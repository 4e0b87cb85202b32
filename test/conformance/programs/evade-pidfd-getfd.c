// Takes a descriptor of another process.
//
// finding: MCPA-EVADE-001 Medium
// result: EPERM
// expect: evade(EPERM) pidfd_getfd
#include "conformance.h"

static int act(void) {
	int parent = syscall(SYS_pidfd_open, getppid(), 0);
	return failed(parent) ? errno : failed(syscall(SYS_pidfd_getfd, parent, 0, 0));
}
