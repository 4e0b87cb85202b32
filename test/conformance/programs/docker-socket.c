// Looks for the container runtime.
//
// finding: MCPA-SOCKET-001 High
// expect: connect(ENOENT) unix /tmp/x/docker.sock
#include "conformance.h"

static int act(void) {
	struct sockaddr_un there = {.sun_family = AF_UNIX, .sun_path = "/tmp/x/docker.sock"};
	connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&there, sizeof there);
	return 0;
}
