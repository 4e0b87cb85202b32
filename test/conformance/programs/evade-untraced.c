// Makes a child that no tracer would follow, which reads a file.
//
// result: failed
// finding: MCPA-EVADE-001 High
// expect: evade SIGSYS
// never: read /etc/hostname
#include "conformance.h"

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		if (syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0) == 0)
			open("/etc/hostname", O_RDONLY);
		_exit(0);
	}
	return ends(child);
}
