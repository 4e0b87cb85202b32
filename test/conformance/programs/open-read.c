// Opens a file for reading, and one that is not there.
//
// expect: read /etc/hostname
// expect: read(ENOENT) /etc/no-such-file
#include "conformance.h"

static int act(void) {
	open("/etc/no-such-file", O_RDONLY);
	return failed(open("/etc/hostname", O_RDONLY));
}
