// Reads the environment of another process of its own.
//
// finding: MCPA-FILE-001 High
// expect: read /proc/N/environ
#include "conformance.h"

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	char name[64];
	snprintf(name, sizeof name, "/proc/%d/environ", child);
	int error = failed(open(name, O_RDONLY));
	kill(child, SIGKILL);
	ends(child);
	return error;
}
