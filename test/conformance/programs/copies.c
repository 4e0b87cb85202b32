// Copies a file's bytes within the kernel: copy_file_range, sendfile, splice.
//
// expect: write /tmp/from
// expect: write /tmp/to
// expect: store /tmp/from "secret"
// expect: store /tmp/to
#include "conformance.h"
#include <sys/sendfile.h>

static int act(void) {
	int from = open("/tmp/from", O_RDWR | O_CREAT | O_TRUNC, 0600), pipes[2];
	int to = open("/tmp/to", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int error = failed(write(from, "secret", 6)) | failed(pipe(pipes));
	loff_t zero = 0, here = 0;
	off_t start = 0;
	error |= failed(copy_file_range(from, &zero, to, NULL, 6, 0)) | failed(sendfile(to, from, &start, 6));
	return error | failed(splice(from, &here, pipes[1], NULL, 6, 0)) | failed(splice(pipes[0], NULL, to, NULL, 6, 0));
}
