// The frame of every program of the suite: an MCP server over stdio with one
// tool, act, whose call runs the program's own act(). It uses nothing but read
// and write on its pipes, so that every event of a run is the program's.
//
// act returns 0, or the errno of what failed; the result's text says which, and
// so does the last line of stderr, which is in the report.
// With PRELOAD it runs before the server says a word.

#ifndef CONFORMANCE_H
#define CONFORMANCE_H

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int act(void);

#ifndef DESCRIPTION
#define DESCRIPTION "Does one thing."
#endif

// failed turns the convention of libc into that of act.
static inline int failed(long result) { return result < 0 ? errno : 0; }

// in_home is a path below HOME; the last one that was asked for.
static inline const char *in_home(const char *name) {
	static char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%s", getenv("HOME"), name);
	return path;
}

// ends waits for a child and returns its exit status, or 128 + its signal.
static inline int ends(pid_t pid) {
	int status;
	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return errno;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// inet is an IPv4 address.
static inline struct sockaddr_in inet(const char *address, int port) {
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	inet_pton(AF_INET, address, &a.sin_addr);
	return a;
}

static void put(int to, const char *text) {
	for (size_t left = strlen(text); left > 0;) {
		ssize_t n = write(to, text, left);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(1);
		text += n;
		left -= n;
	}
}

static void answer(const char *line) {
	const char *id = strstr(line, "\"id\":"), *method = strstr(line, "\"method\":\"");
	if (!id || !method)
		return;
	id += strlen("\"id\":");
	method += strlen("\"method\":\"");
	char text[1024], body[900];
	if (!strncmp(method, "initialize\"", 11)) {
		snprintf(body, sizeof body, "\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"
			"\"serverInfo\":{\"name\":\"conformance\",\"version\":\"1\"}}");
	} else if (!strncmp(method, "tools/list\"", 11)) {
		snprintf(body, sizeof body, "\"result\":{\"tools\":[{\"name\":\"act\",\"description\":\"%s\","
			"\"inputSchema\":{\"type\":\"object\"}}]}", DESCRIPTION);
	} else if (!strncmp(method, "tools/call\"", 11)) {
		int error = act();
		const char *outcome = error ? strerrorname_np(error) ? strerrorname_np(error) : "failed" : "ok";
		put(2, "\n"), put(2, outcome), put(2, "\n");
		snprintf(body, sizeof body, "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}", outcome);
	} else {
		snprintf(body, sizeof body, "\"error\":{\"code\":-32601,\"message\":\"method not found\"}");
	}
	snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,%s}\n", (int)strcspn(id, ",}"), id, body);
	put(1, text);
}

int main(int argc, char **argv) {
	(void)argc, (void)argv;
#ifdef PRELOAD
	act();
#endif
	static char line[65536];
	size_t have = 0;
	for (;;) {
		ssize_t n = read(0, line + have, sizeof line - 1 - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return 0;
		have += n;
		line[have] = 0;
		for (char *end; (end = strchr(line, '\n')) != NULL;) {
			*end = 0;
			answer(line);
			have -= end + 1 - line;
			memmove(line, end + 1, have + 1);
		}
		if (have == sizeof line - 1)
			have = 0; // nothing that long is for us
	}
}

#endif
