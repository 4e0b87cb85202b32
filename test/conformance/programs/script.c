// Runs a script by its #! line.
//
// finding: MCPA-EXEC-001 Medium
// expect: write /tmp/script
// expect: store /tmp/script "#!/bin/true\n"
// expect: exec /tmp/script ["script"]
#include "conformance.h"

static int act(void) {
	int file = open("/tmp/script", O_WRONLY | O_CREAT | O_TRUNC, 0700);
	if (write(file, "#!/bin/true\n", 12) < 0)
		return errno;
	close(file);
	pid_t child = fork();
	if (child == 0) {
		execl("/tmp/script", "script", NULL);
		_exit(127);
	}
	return ends(child);
}
