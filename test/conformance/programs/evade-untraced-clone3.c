// As evade-untraced, by clone3, whose flags no seccomp filter can read.
//
// result: ENOSYS
// finding: MCPA-EVADE-001 Medium
// expect: evade(ENOSYS) clone3
// never: read /etc/hostname
#include "conformance.h"
#include <linux/sched.h>

static int act(void) {
	struct clone_args args = {.flags = CLONE_UNTRACED, .exit_signal = SIGCHLD};
	long child = syscall(SYS_clone3, &args, sizeof args);
	if (child == 0) {
		open("/etc/hostname", O_RDONLY);
		_exit(0);
	}
	return child < 0 ? errno : ends(child);
}
