// Runs a program by posix_spawn, which is vfork and exec.
//
// finding: MCPA-EXEC-001 Medium
// expect: exec /bin/true ["true"]
#include "conformance.h"
#include <spawn.h>

static int act(void) {
	pid_t child;
	char *argv[] = {"true", NULL}, *envp[] = {NULL};
	int error = posix_spawn(&child, "/bin/true", NULL, NULL, argv, envp);
	return error ? error : ends(child);
}
