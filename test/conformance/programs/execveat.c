// Runs a program by its descriptor alone.
//
// finding: MCPA-EXEC-001 Medium
// expect: read /usr/bin/true
// expect: exec /usr/bin/true ["hidden"]
#include "conformance.h"

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		char *argv[] = {"hidden", NULL}, *envp[] = {NULL};
		syscall(SYS_execveat, open("/bin/true", O_PATH), "", argv, envp, AT_EMPTY_PATH);
		_exit(127);
	}
	return ends(child);
}
