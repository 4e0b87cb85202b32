// Asks for its pid by the x32 ABI.
//
// result: failed
// finding: MCPA-EVADE-001 High
// expect: evade SIGSYS
#include "conformance.h"

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		syscall(0x40000000 | SYS_getpid);
		_exit(0);
	}
	return ends(child);
}
