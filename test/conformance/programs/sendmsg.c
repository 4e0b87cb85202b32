// Sends a datagram by sendmsg, with a name, in two parts.
//
// finding: MCPA-EGRESS-001 Medium
// expect: connect udp 93.184.216.34:9
// expect: send udp 93.184.216.34:9 "knock knock"
#include "conformance.h"
#include <sys/uio.h>

static int act(void) {
	struct sockaddr_in there = inet("93.184.216.34", 9);
	struct iovec parts[] = {{"knock ", 6}, {"knock", 5}};
	struct msghdr message = {.msg_name = &there, .msg_namelen = sizeof there, .msg_iov = parts, .msg_iovlen = 2};
	return failed(sendmsg(socket(AF_INET, SOCK_DGRAM, 0), &message, 0));
}
