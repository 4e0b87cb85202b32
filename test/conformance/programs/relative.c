// Opens by names that are relative to where it went, by chdir and fchdir.
//
// expect: read /etc
// expect: read /usr/lib/os-release
// expect: read /etc/hostname
#include "conformance.h"

static int act(void) {
	int etc = open("/etc", O_RDONLY | O_DIRECTORY);
	int error = failed(chdir("/usr/lib")) | failed(open("os-release", O_RDONLY));
	return error | failed(fchdir(etc)) | failed(open("./../etc//hostname", O_RDONLY));
}
