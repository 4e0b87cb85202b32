// Debugs its own child, as debuggers do: refused, for it would take the child
// away from the tracer.
//
// result: EPERM
// finding: MCPA-EVADE-001 High
// expect: evade(EPERM) ptrace
#include "conformance.h"
#include <sys/ptrace.h>

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	int error = failed(ptrace(PTRACE_SEIZE, child, 0, 0));
	kill(child, SIGKILL);
	ends(child);
	return error;
}
