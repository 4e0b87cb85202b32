// Makes a raw socket and a packet socket, which take a capability.
//
// result: EPERM
// finding: MCPA-EVADE-001 Medium
// expect: evade(EPERM) socket packet
#include "conformance.h"

static int act(void) {
	int error = failed(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
	socket(AF_PACKET, SOCK_RAW, 0);
	return error;
}
