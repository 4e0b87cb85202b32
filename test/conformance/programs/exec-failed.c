// Tries a program that is not there.
//
// expect: exec(ENOENT) /bin/no-such-program
#include "conformance.h"

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		execl("/bin/no-such-program", "x", NULL);
		_exit(0);
	}
	return ends(child);
}
