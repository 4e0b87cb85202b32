// Sends a datagram to an address without a family, which the kernel takes for one of IPv4.
//
// finding: MCPA-EGRESS-001 Medium
// expect: connect udp 93.184.216.34:9
// expect: send udp 93.184.216.34:9 "knock"
#include "conformance.h"

static int act(void) {
	struct sockaddr_in there = inet("93.184.216.34", 9);
	there.sin_family = AF_UNSPEC;
	return failed(sendto(socket(AF_INET, SOCK_DGRAM, 0), "knock", 5, 0, (struct sockaddr *)&there, sizeof there));
}
