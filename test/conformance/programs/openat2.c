// Opens by openat2(2), relative to a directory and without leaving it.
//
// expect: read /etc
// expect: read /etc/hostname
#include "conformance.h"
#include <linux/openat2.h>

static int act(void) {
	struct open_how how = {.flags = O_RDONLY, .resolve = RESOLVE_BENEATH};
	int etc = open("/etc", O_RDONLY | O_DIRECTORY);
	return failed(syscall(SYS_openat2, etc, "hostname", &how, sizeof how));
}
