// Sets up a ring as io_uring(7) does: the sandbox has none, and libraries that
// ask at every start find nothing wrong with that.
//
// result: ENOSYS
// expect: evade(ENOSYS) io_uring_setup
#include "conformance.h"
#include <linux/io_uring.h>

static int act(void) {
	struct io_uring_params params = {0};
	return failed(syscall(SYS_io_uring_setup, 8, &params));
}
