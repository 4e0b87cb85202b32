// Sends a datagram.
//
// finding: MCPA-EGRESS-001 Medium
// expect: connect udp 93.184.216.34:9
// expect: send udp 93.184.216.34:9 "knock"
#include "conformance.h"

static int act(void) {
	struct sockaddr_in there = inet("93.184.216.34", 9);
	return failed(sendto(socket(AF_INET, SOCK_DGRAM, 0), "knock", 5, 0, (struct sockaddr *)&there, sizeof there));
}
