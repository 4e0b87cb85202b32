// Its tracer is stopped in the middle of a call: whatever it does from then on
// waits for the tracer.
//
// attack: now-stop
// alone: the trace ends with the tracer
// result: any
// never: read /etc/hosts
// verdict: Inconclusive TracerLost
#include "conformance.h"

static int act(void) {
	prctl(PR_SET_NAME, "now-stop");
	for (int i = 0; i < 60; i++) {
		poll(NULL, 0, 1000);
		open("/etc/hostname", O_RDONLY);
	}
	return failed(open("/etc/hosts", O_RDONLY));
}
