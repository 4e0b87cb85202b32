// Opens a file by O_PATH and reads it by the name of that descriptor.
//
// expect: read /etc/hostname
#include "conformance.h"

static int act(void) {
	int file = open("/etc/hostname", O_PATH);
	char name[64];
	snprintf(name, sizeof name, "/proc/self/fd/%d", file);
	return failed(file) | failed(open(name, O_RDONLY));
}
