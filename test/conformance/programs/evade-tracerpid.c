// Looks whether it is traced: TracerPid, the wait channel, its parent. An
// observation only: monitors read the same.
//
// expect: read /proc/self/status
// expect: read /proc/self/wchan
#include "conformance.h"

static int act(void) {
	open("/proc/self/wchan", O_RDONLY);
	return failed(open("/proc/self/status", O_RDONLY));
}
