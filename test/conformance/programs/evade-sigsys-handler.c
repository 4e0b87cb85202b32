// Lets a filter of its own trap a call that no tracer looks at, and opens a file
// in the handler of SIGSYS: that is a call like any other.
//
// expect: read /etc/hostname
// never: evade
#include "trap.h"

static void trapped(int signal, siginfo_t *info, void *context) {
	(void)signal, (void)info, (void)context;
	open("/etc/hostname", O_RDONLY);
}

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		trap_call(SYS_getppid, trapped);
		getppid();
		_exit(0);
	}
	return ends(child);
}
