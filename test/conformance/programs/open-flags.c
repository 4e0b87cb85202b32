// Opens a file in each way that may change it.
//
// expect: write /tmp/created
// expect: write /tmp/appended
// expect: write /tmp/truncated
// expect: write /tmp/both
#include "conformance.h"

static int act(void) {
	int error = failed(open("/tmp/created", O_WRONLY | O_CREAT, 0600));
	error |= failed(open("/tmp/appended", O_WRONLY | O_CREAT | O_APPEND, 0600));
	error |= failed(open("/tmp/truncated", O_WRONLY | O_CREAT | O_TRUNC, 0600));
	return error | failed(open("/tmp/both", O_RDWR | O_CREAT, 0600));
}
