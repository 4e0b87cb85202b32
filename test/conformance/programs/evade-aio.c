// Reads by AIO, which moves bytes behind the tracer's back: the sandbox has none.
//
// result: ENOSYS
// never: evade io_setup
#include "conformance.h"
#include <linux/aio_abi.h>

static int act(void) {
	aio_context_t context = 0;
	return failed(syscall(SYS_io_setup, 8, &context));
}
