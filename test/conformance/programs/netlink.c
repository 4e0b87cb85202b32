// Asks the kernel for its addresses, as getifaddrs does.
#include "conformance.h"
#include <ifaddrs.h>

static int act(void) {
	struct ifaddrs *all;
	return failed(getifaddrs(&all));
}
