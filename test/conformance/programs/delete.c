// Makes a directory with a file, and removes both.
//
// expect: write /tmp/d
// expect: write /tmp/d/f
// expect: delete /tmp/d/f
// expect: delete /tmp/d
// expect: write /tmp/e
// expect: delete /tmp/e
#include "conformance.h"

static int act(void) {
	int error = failed(mkdir("/tmp/d", 0700)) | failed(creat("/tmp/d/f", 0600)) | failed(unlink("/tmp/d/f"));
	return error | failed(unlinkat(AT_FDCWD, "/tmp/d", AT_REMOVEDIR)) | failed(mkdir("/tmp/e", 0700)) | failed(rmdir("/tmp/e"));
}
