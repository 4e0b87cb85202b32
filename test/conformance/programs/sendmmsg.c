// Sends two datagrams to two addresses by one call.
//
// finding: MCPA-EGRESS-001 Medium
// expect: connect udp 93.184.216.34:9
// expect: send udp 93.184.216.34:9 "one"
// expect: connect udp 93.184.216.35:9
// expect: send udp 93.184.216.35:9 "two"
#include "conformance.h"
#include <sys/uio.h>

static int act(void) {
	struct sockaddr_in there[] = {inet("93.184.216.34", 9), inet("93.184.216.35", 9)};
	struct iovec parts[] = {{"one", 3}, {"two", 3}};
	struct mmsghdr messages[2] = {0};
	for (int i = 0; i < 2; i++)
		messages[i].msg_hdr = (struct msghdr){.msg_name = &there[i], .msg_namelen = sizeof there[i], .msg_iov = &parts[i], .msg_iovlen = 1};
	return failed(sendmmsg(socket(AF_INET, SOCK_DGRAM, 0), messages, 2, 0));
}
