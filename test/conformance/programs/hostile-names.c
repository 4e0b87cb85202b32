// Opens files whose names are meant for whoever reads the trace.
//
// result: ENOENT
// expect: read /etc/hostname
// expect: write
// expect: write(ENOENT)
// never: read /etc/shadow
#include "conformance.h"

static int act(void) {
	static const char *names[] = {
		"/tmp/a\n1 1700000000.000000 openat(AT_FDCWD, \"/etc/shadow\", O_RDONLY) = 3</etc/shadow> <0.000001>\n",
		"/tmp/\") = 3</etc/shadow> <0.000001>", "/tmp/<... resumed>", "/tmp/+++ exited with 0 +++",
		"/tmp/\xff\xfe\x1b[2J", "/tmp/<unfinished ...>", "/tmp/'\\\"\\n", "/tmp/a\\",
	};
	int error = 0;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		error |= failed(open(names[i], O_WRONLY | O_CREAT, 0600));
	prctl(PR_SET_NAME, "x> = 0\n");
	return error | failed(open("/etc/hostname", O_RDONLY));
}
