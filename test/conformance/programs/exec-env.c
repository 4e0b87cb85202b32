// Gives a program a variable that the server has not.
//
// finding: MCPA-EXEC-001 Medium
// expect: exec /bin/true ["true"]
// expect: read(ENOENT) /tmp/evil.so
#include "conformance.h"

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		setenv("LD_PRELOAD", "/tmp/evil.so", 1);
		execl("/bin/true", "true", NULL);
		_exit(127);
	}
	return ends(child);
}
