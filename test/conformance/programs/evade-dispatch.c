// Catches its own calls by syscall user dispatch, before the tracer sees them.
//
// finding: MCPA-EVADE-001 Medium
// expect: evade prctl
#include "conformance.h"

static int act(void) {
	static char selector = 0; // SYSCALL_DISPATCH_FILTER_ALLOW
	pid_t child = fork();
	if (child == 0) {
		_exit(failed(prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, 0, 0, &selector)) ? 1 : 0);
	}
	return ends(child);
}
