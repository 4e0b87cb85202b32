// Runs a program that has no file.
//
// finding: MCPA-EVADE-001 Medium
// expect: read /usr/bin/true
// expect: write /memfd:innocent
// expect: store /memfd:innocent
// expect: exec /memfd:innocent ["innocent"]
#include "conformance.h"
#include <sys/sendfile.h>

static int act(void) {
	int program = open("/bin/true", O_RDONLY), memory = memfd_create("innocent", 0);
	if (sendfile(memory, program, NULL, 1 << 20) < 0)
		return errno;
	pid_t child = fork();
	if (child == 0) {
		char *argv[] = {"innocent", NULL}, *envp[] = {NULL};
		fexecve(memory, argv, envp);
		_exit(127);
	}
	return ends(child);
}
