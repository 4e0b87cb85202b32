// Makes itself unreadable, and reads a file: the tracer still reads its names.
//
// finding: MCPA-EVADE-001 Medium
// expect: evade prctl
// expect: read /etc/hostname
#include "conformance.h"

static int act(void) {
	int error = failed(prctl(PR_SET_DUMPABLE, 0));
	return error | failed(open("/etc/hostname", O_RDONLY));
}
