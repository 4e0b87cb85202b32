// Writes to its own stdin and reads that, so that it seems to have read more than the audit has written.
//
// expect: write /proc/self/fd/0
// verdict: Inconclusive TraceOverflow
#include "conformance.h"

static int act(void) {
	char space[1];
	int stdin_again = open("/proc/self/fd/0", O_WRONLY);
	return failed(stdin_again) | failed(write(stdin_again, " ", 1)) | failed(read(0, space, 1)) | failed(close(stdin_again));
}
