// Asks from a port that it chose, as resolvers do: a socket that is connected receives only from its peer.
//
// finding: MCPA-EGRESS-001 Medium
// expect: connect udp 93.184.216.34:9
// expect: send udp 93.184.216.34:9 "knock"
#include "conformance.h"

static int act(void) {
	struct sockaddr_in here = inet("0.0.0.0", 7313), there = inet("93.184.216.34", 9);
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	return failed(bind(s, (struct sockaddr *)&here, sizeof here)) | failed(connect(s, (struct sockaddr *)&there, sizeof there)) |
	       failed(write(s, "knock", 5));
}
