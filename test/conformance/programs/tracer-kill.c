// Its tracer is killed in the middle of a call, as by the kernel that is out of
// memory: the server must be dead before it can do anything unseen.
//
// attack: now-kill
// alone: the trace ends with the tracer
// result: any
// verdict: Inconclusive TracerLost
#include "conformance.h"

static int act(void) {
	prctl(PR_SET_NAME, "now-kill");
	for (int i = 0; i < 60; i++)
		poll(NULL, 0, 1000);
	return failed(open("/etc/hostname", O_RDONLY));
}
