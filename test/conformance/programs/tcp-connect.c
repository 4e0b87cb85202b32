// Connects to an address outside.
//
// finding: MCPA-EGRESS-001 Medium
// expect: connect(ECONNREFUSED) tcp 93.184.216.34:80
#include "conformance.h"

static int act(void) {
	struct sockaddr_in there = inet("93.184.216.34", 80);
	connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&there, sizeof there);
	return 0;
}
