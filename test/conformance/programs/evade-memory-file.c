// Writes into the memory of another process of its own.
//
// finding: MCPA-EVADE-001 Medium
// expect: evade openat /proc/PID/mem
// expect: evade pwrite64 /proc/PID/mem
#include "conformance.h"

static char there;

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	char name[64];
	snprintf(name, sizeof name, "/proc/%d/mem", child);
	int memory = openat(AT_FDCWD, name, O_RDWR);
	int error = failed(memory) | failed(pwrite(memory, "x", 1, (off_t)(intptr_t)&there));
	kill(child, SIGKILL);
	ends(child);
	return error;
}
