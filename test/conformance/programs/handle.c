// Opens a file by handle, which takes a capability that no server has.
//
// result: EPERM
// finding: MCPA-EVADE-001 Medium
// expect: read /tmp
// expect: write /tmp/by-handle
// expect: evade(EPERM) open_by_handle_at
#include "conformance.h"

static int act(void) {
	struct { struct file_handle h; char room[128]; } a = {.h.handle_bytes = 128};
	int mount, root = open("/tmp", O_RDONLY | O_DIRECTORY);
	creat("/tmp/by-handle", 0600);
	name_to_handle_at(AT_FDCWD, "/tmp/by-handle", &a.h, &mount, 0);
	return failed(open_by_handle_at(root, &a.h, O_RDONLY));
}
