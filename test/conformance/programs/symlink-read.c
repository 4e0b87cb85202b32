// Reads a file through a symbolic link: its real name is what counts.
//
// expect: link /tmp/innocent -> /etc/hostname
// expect: read /etc/hostname
#include "conformance.h"

static int act(void) {
	symlink("/etc/hostname", "/tmp/innocent");
	return failed(open("/tmp/innocent", O_RDONLY));
}
