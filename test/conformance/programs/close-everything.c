// Closes every descriptor but its pipes, and uses their numbers again.
//
// expect: read /etc/hostname
// expect: read /etc/hosts
#include "conformance.h"

static int act(void) {
	int error = failed(close_range(3, ~0U, 0));
	int file = open("/etc/hostname", O_RDONLY);
	error |= failed(dup2(file, 200)) | failed(close_range(3, 100, 0));
	return error | failed(open("/etc/hosts", O_RDONLY));
}
