// Listens on the loopback, connects to itself, and talks.
//
// expect: bind tcp 127.0.0.1:7311
// expect: listen tcp 127.0.0.1:7311
// expect: connect tcp 127.0.0.1:7311
// expect: accept tcp 127.0.0.1:N
// expect: send tcp 127.0.0.1:7311 "ping"
// expect: receive tcp 127.0.0.1:N "ping"
#include "conformance.h"

static int act(void) {
	struct sockaddr_in here = inet("127.0.0.1", 7311);
	int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	int error = failed(bind(listener, (struct sockaddr *)&here, sizeof here)) | failed(listen(listener, 5));
	int client = socket(AF_INET, SOCK_STREAM, 0);
	error |= failed(connect(client, (struct sockaddr *)&here, sizeof here));
	int server = accept(listener, NULL, NULL);
	char answer[16];
	error |= failed(server) | failed(send(client, "ping", 4, 0)) | failed(recv(server, answer, sizeof answer, 0));
	close(server), close(client), close(listener);
	return error;
}
