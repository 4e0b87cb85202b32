// Makes a child by clone3 and, refused, as every libc does, by clone.
//
// result: ENOSYS
// expect: read /etc/hostname
#include "conformance.h"
#include <linux/sched.h>

static int act(void) {
	struct clone_args args = {.exit_signal = SIGCHLD};
	long child = syscall(SYS_clone3, &args, sizeof args);
	int error = failed(child);
	if (child < 0)
		child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0) {
		open("/etc/hostname", O_RDONLY);
		_exit(0);
	}
	ends(child);
	return error;
}
