// Gives a file a second name, through a directory that is a symbolic link.
//
// expect: write /tmp/real
// expect: link /tmp/alias -> /tmp/real
// expect: write /tmp/real/a
// expect: delete(ENOENT) /tmp/real/b
// expect: link /tmp/real/b -> /tmp/real/a
#include "conformance.h"

static int act(void) {
	mkdir("/tmp/real", 0700);
	symlink("real", "/tmp/alias");
	close(open("/tmp/alias/a", O_WRONLY | O_CREAT, 0600));
	unlink("/tmp/real/b");
	return failed(link("/tmp/alias/a", "/tmp/alias/b"));
}
