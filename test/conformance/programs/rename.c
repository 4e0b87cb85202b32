// Renames a file, and exchanges two.
//
// expect: write /tmp/a
// expect: write /tmp/b
// expect: rename /tmp/a -> /tmp/c
// expect: rename /tmp/c -> /tmp/b
// expect: rename /tmp/b -> /tmp/c
#include "conformance.h"

static int act(void) {
	close(open("/tmp/a", O_WRONLY | O_CREAT, 0600));
	close(open("/tmp/b", O_WRONLY | O_CREAT, 0600));
	int error = failed(rename("/tmp/a", "/tmp/c"));
	return error | failed(renameat2(AT_FDCWD, "/tmp/c", AT_FDCWD, "/tmp/b", RENAME_EXCHANGE));
}
