// Asks for its pid by the way of 32-bit programs, whose numbers mean other calls.
//
// result: failed
// finding: MCPA-EVADE-001 High
// expect: evade SIGSYS
#include "conformance.h"

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		long pid;
		__asm__ volatile("int $0x80" : "=a"(pid) : "a"(20) : "memory");
		_exit(0);
	}
	return ends(child);
}
