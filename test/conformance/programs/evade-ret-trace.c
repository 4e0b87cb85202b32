// Has a seccomp filter of its own stop it for the tracer, at a call that no
// tracer asked for, and opens a file: the stop confuses none of them.
//
// expect: read /etc/hostname
#include "conformance.h"
#include <linux/filter.h>
#include <linux/seccomp.h>

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		struct sock_filter filter[] = {
			{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
			{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_getppid},
			{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRACE | 77},
			{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
		};
		struct sock_fprog program = {4, filter};
		if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
			_exit(errno);
		getppid();
		_exit(failed(open("/etc/hostname", O_RDONLY)));
	}
	return ends(child);
}
