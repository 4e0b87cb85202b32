// Reads the environment of its parent, or would: the supervisor hides its own.
//
// finding: MCPA-FILE-006 High
// expect: read(EACCES) /proc/N/environ
#include "conformance.h"

static int act(void) {
	char name[64];
	snprintf(name, sizeof name, "/proc/%d/environ", getppid());
	open(name, O_RDONLY);
	return 0;
}
