// Leaves a daemon behind, by forking twice and setsid, that works when the call
// is long over.
//
// expect: read /etc/hostname
#include "conformance.h"

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		setsid();
		if (fork() == 0) {
			poll(NULL, 0, 200);
			open("/etc/hostname", O_RDONLY);
		}
		_exit(0);
	}
	return ends(child);
}
