// Looks like a resolver, and then receives from anybody: without its peer, a socket keeps its port.
//
// finding: MCPA-EGRESS-001 Medium
// finding: MCPA-LISTEN-001 Medium
// expect: bind udp 0.0.0.0:7314
// expect: connect udp 93.184.216.34:9
// expect: send udp 93.184.216.34:9 "knock"
#include "conformance.h"

static int act(void) {
	struct sockaddr_in here = inet("0.0.0.0", 7314), there = inet("93.184.216.34", 9), nobody = {.sin_family = AF_UNSPEC};
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	return failed(bind(s, (struct sockaddr *)&here, sizeof here)) | failed(connect(s, (struct sockaddr *)&there, sizeof there)) |
	       failed(write(s, "knock", 5)) | failed(connect(s, (struct sockaddr *)&nobody, sizeof nobody));
}
