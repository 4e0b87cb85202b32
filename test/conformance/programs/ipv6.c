// Connects over IPv6, and to an IPv4 address that is mapped.
//
// finding: MCPA-EGRESS-001 Medium
// expect: connect(ECONNREFUSED) tcp [2606:2800:220:1::1]:443
// expect: connect(ECONNREFUSED) tcp 93.184.216.34:443
#include "conformance.h"

static void try(const char *address) {
	struct sockaddr_in6 there = {.sin6_family = AF_INET6, .sin6_port = htons(443)};
	inet_pton(AF_INET6, address, &there.sin6_addr);
	connect(socket(AF_INET6, SOCK_STREAM, 0), (struct sockaddr *)&there, sizeof there);
}

static int act(void) {
	try("2606:2800:220:1::1");
	try("::ffff:93.184.216.34");
	return 0;
}
