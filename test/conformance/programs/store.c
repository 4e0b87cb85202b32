// Writes to a file, by write, writev and pwrite.
//
// expect: write /tmp/store
// expect: store /tmp/store "one"
// expect: store /tmp/store "twothree"
// expect: store /tmp/store "four"
#include "conformance.h"
#include <sys/uio.h>

static int act(void) {
	int file = open("/tmp/store", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct iovec parts[] = {{"two", 3}, {"three", 5}};
	int error = failed(write(file, "one", 3)) | failed(writev(file, parts, 2));
	return error | failed(pwrite(file, "four", 4, 0));
}
