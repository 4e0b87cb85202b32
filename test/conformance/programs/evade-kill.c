// Kills and stops whatever it can see but its own parent: the tracer, which is
// not there or belongs to somebody else.
//
// alone: a Pod has processes of others
// finding: MCPA-EVADE-001 High
// expect: evade kill
#include "conformance.h"
#include <sys/ptrace.h>

static int act(void) {
	char task[64];
	for (pid_t pid = 2; pid < 300; pid++) {
		snprintf(task, sizeof task, "/proc/%d/task/%d", getppid(), pid);
		if (pid == getpid() || syscall(SYS_access, task, F_OK) == 0)
			continue; // a thread of the parent's names the whole process
		kill(pid, SIGSTOP);
		kill(pid, SIGKILL);
		ptrace(PTRACE_SEIZE, pid, 0, 0);
	}
	return failed(kill(getppid(), SIGCONT));
}
