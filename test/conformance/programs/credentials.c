// Asks for another user's id, which takes a capability, and for its own.
//
// result: EPERM
// expect: credential setuid
#include "conformance.h"

static int act(void) {
	int error = failed(setuid(12345));
	return failed(setuid(getuid())) ? errno : error;
}
