// Reads a file in a grandchild.
//
// expect: read /etc/hostname
#include "conformance.h"

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		pid_t grandchild = fork();
		if (grandchild == 0)
			_exit(failed(open("/etc/hostname", O_RDONLY)));
		_exit(ends(grandchild));
	}
	return ends(child);
}
