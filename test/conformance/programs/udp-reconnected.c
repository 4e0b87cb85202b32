// Connects a datagram socket to the machine itself and then elsewhere: strace goes on naming the first peer.
//
// finding: MCPA-EGRESS-001 Medium
// expect: connect udp 93.184.216.34:9
// expect: send udp 93.184.216.34:9 "knock"
// alone: strace's events name the first peer, too
#include "conformance.h"

static int act(void) {
	struct sockaddr_in here = inet("127.0.0.1", 7312), there = inet("93.184.216.34", 9);
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	return failed(connect(s, (struct sockaddr *)&here, sizeof here)) | failed(connect(s, (struct sockaddr *)&there, sizeof there)) |
		failed(send(s, "knock", 5, 0));
}
