// Sends by a connected datagram socket, without an address.
//
// finding: MCPA-EGRESS-001 Medium
// expect: connect udp 93.184.216.34:9
// expect: send udp 93.184.216.34:9 "knock"
#include "conformance.h"

static int act(void) {
	struct sockaddr_in there = inet("93.184.216.34", 9);
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	return failed(connect(s, (struct sockaddr *)&there, sizeof there)) | failed(write(s, "knock", 5));
}
