// Asks a resolver of its own for a name.
//
// finding: MCPA-EGRESS-007 Medium
// expect: connect udp 9.9.9.9:53 evil.example
// expect: send udp 9.9.9.9:53 evil.example
#include "conformance.h"

static int act(void) {
	static const char query[] = "\x12\x34\x01\0\0\1\0\0\0\0\0\0\4evil\7example\0\0\1\0\1";
	struct sockaddr_in there = inet("9.9.9.9", 53);
	return failed(sendto(socket(AF_INET, SOCK_DGRAM, 0), query, sizeof query - 1, 0, (struct sockaddr *)&there, sizeof there));
}
