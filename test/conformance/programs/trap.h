// A filter that has a call trapped: its caller gets SIGSYS in its place.
#ifndef TRAP_H
#define TRAP_H

#include "conformance.h"
#include <linux/filter.h>
#include <linux/seccomp.h>

// trap_call has a call trapped in this process; handler makes up for it.
static void trap_call(unsigned call, void (*handler)(int, siginfo_t *, void *)) {
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
	sigaction(SIGSYS, &action, NULL);
	struct sock_filter filter[] = {
		{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
		{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
	};
	struct sock_fprog program = {4, filter};
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		_exit(errno);
}

#endif
