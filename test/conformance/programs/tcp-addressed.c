// Sends over a connection with another address, and with one of no network: the kernel looks at neither.
//
// expect: bind tcp 127.0.0.1:7313
// expect: listen tcp 127.0.0.1:7313
// expect: connect tcp 127.0.0.1:7313
// expect: send tcp 127.0.0.1:7313 "one"
// expect: send tcp 127.0.0.1:7313 "two"
#include "conformance.h"
#include <linux/netlink.h>

static int act(void) {
	struct sockaddr_in here = inet("127.0.0.1", 7313), there = inet("127.0.0.2", 7313);
	struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	int error = failed(bind(listener, (struct sockaddr *)&here, sizeof here)) | failed(listen(listener, 5));
	int client = socket(AF_INET, SOCK_STREAM, 0);
	error |= failed(connect(client, (struct sockaddr *)&here, sizeof here));
	error |= failed(sendto(client, "one", 3, 0, (struct sockaddr *)&there, sizeof there));
	error |= failed(sendto(client, "two", 3, 0, (struct sockaddr *)&kernel, sizeof kernel));
	close(client), close(listener);
	return error;
}
