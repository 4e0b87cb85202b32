// Leaves its namespaces, and mounts something over what the tracer knows.
//
// finding: MCPA-EVADE-001 Medium
// result: EPERM
// expect: evade(EPERM) mount
// expect: evade(EPERM) unshare
#include "conformance.h"
#include <sys/mount.h>

static int act(void) {
	mount("/etc", "/tmp", NULL, MS_BIND, NULL);
	return failed(unshare(CLONE_NEWNET));
}
