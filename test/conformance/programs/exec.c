// Runs a program in a child.
//
// finding: MCPA-EXEC-001 Medium
// expect: exec /bin/true ["true" "--quietly"]
#include "conformance.h"

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		execl("/bin/true", "true", "--quietly", NULL);
		_exit(127);
	}
	return ends(child);
}
