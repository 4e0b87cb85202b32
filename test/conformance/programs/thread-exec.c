// Runs a program from a thread that is not the leader, in a child.
//
// finding: MCPA-EXEC-001 Medium
// expect: exec /bin/true ["true" "from-thread"]
#include "conformance.h"
#include <pthread.h>

static void *work(void *unused) {
	execl("/bin/true", "true", "from-thread", NULL);
	return unused;
}

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		pthread_t thread;
		pthread_create(&thread, NULL, work, NULL);
		pthread_join(thread, NULL);
		_exit(127);
	}
	return ends(child);
}
