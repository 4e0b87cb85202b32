// Makes a socket that no network namespace holds, in a child.
//
// result: failed
// finding: MCPA-EVADE-001 High
// expect: evade SIGSYS
#include "conformance.h"

static int act(void) {
	pid_t child = fork();
	if (child == 0)
		_exit(failed(socket(AF_VSOCK, SOCK_STREAM, 0)));
	return ends(child);
}
