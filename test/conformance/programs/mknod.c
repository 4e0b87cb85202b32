// Makes a named pipe.
//
// expect: delete(ENOENT) /tmp/fifo
// expect: write /tmp/fifo
#include "conformance.h"

static int act(void) {
	unlink("/tmp/fifo");
	return failed(mknod("/tmp/fifo", S_IFIFO | 0600, 0));
}
