// Talks over unix sockets: a stream by path, a datagram, an abstract name.
//
// expect: delete(ENOENT) /tmp/stream
// expect: delete(ENOENT) /tmp/datagram
// expect: bind unix /tmp/stream
// expect: listen unix /tmp/stream
// expect: connect unix /tmp/stream
// expect: send unix /tmp/stream "hello"
// expect: bind unix /tmp/datagram
// expect: connect unix /tmp/datagram
// expect: send unix /tmp/datagram "hello"
// expect: bind unix @conformance
// expect: listen unix @conformance
// expect: connect unix @conformance
// expect: send unix @conformance "hello"
#include "conformance.h"

static int talk(int type, const char *name, size_t length) {
	struct sockaddr_un there = {.sun_family = AF_UNIX};
	memcpy(there.sun_path, name, length);
	socklen_t size = offsetof(struct sockaddr_un, sun_path) + length;
	int server = socket(AF_UNIX, type, 0), client = socket(AF_UNIX, type, 0);
	int error = failed(bind(server, (struct sockaddr *)&there, size));
	if (type == SOCK_STREAM)
		error |= failed(listen(server, 1));
	error |= failed(connect(client, (struct sockaddr *)&there, size)) | failed(write(client, "hello", 5));
	close(server), close(client);
	return error;
}

static int act(void) {
	unlink("/tmp/stream"), unlink("/tmp/datagram");
	int error = talk(SOCK_STREAM, "/tmp/stream", sizeof "/tmp/stream");
	error |= talk(SOCK_DGRAM, "/tmp/datagram", sizeof "/tmp/datagram");
	return error | talk(SOCK_STREAM, "\0conformance", sizeof "\0conformance" - 1);
}
