// Changes mode, owner, times and extended attributes of a file.
//
// expect: write /tmp/attributes
// expect: attribute /tmp/attributes
#include "conformance.h"
#include <sys/time.h>
#include <sys/xattr.h>

static int act(void) {
	int file = creat("/tmp/attributes", 0600);
	int error = failed(chmod("/tmp/attributes", 0700)) | failed(fchmod(file, 0600));
	error |= failed(chown("/tmp/attributes", getuid(), getgid())) | failed(fchown(file, getuid(), getgid()));
	error |= failed(utimensat(AT_FDCWD, "/tmp/attributes", NULL, 0)) | failed(utimes("/tmp/attributes", NULL));
	fsetxattr(file, "user.a", "b", 1, 0); // not every file system has any
	removexattr("/tmp/attributes", "user.a");
	return error;
}
