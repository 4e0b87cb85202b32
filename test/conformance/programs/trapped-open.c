// Confines itself as browsers do: a filter traps openat, and the handler of
// SIGSYS opens another file in its place. Only that one is read.
//
// expect: read /etc/hostname
#include "trap.h"

static void trapped(int signal, siginfo_t *info, void *context) {
	(void)signal, (void)info, (void)context;
	syscall(SYS_open, "/etc/hostname", O_RDONLY);
}

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		trap_call(SYS_openat, trapped);
		syscall(SYS_openat, AT_FDCWD, "/etc/hosts", O_RDONLY);
		_exit(0);
	}
	return ends(child);
}
