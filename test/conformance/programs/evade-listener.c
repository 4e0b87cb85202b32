// Lets another thread decide about its openat, by a seccomp filter with a
// listener: what that lets go on is not reported to every tracer.
//
// result: failed
// finding: MCPA-EVADE-001 High
// expect: evade SIGSYS
// never: read /etc/hostname
#include "conformance.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>

static int act(void) {
	pid_t child = fork();
	if (child == 0) {
		struct sock_filter filter[] = {
			{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
			{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_openat},
			{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF},
			{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
		};
		struct sock_fprog program = {4, filter};
		int listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
		pid_t reader = fork();
		if (reader == 0) {
			open("/etc/hostname", O_RDONLY);
			_exit(0);
		}
		struct seccomp_notif notif = {0};
		while (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notif) < 0 && errno == EINTR)
			;
		struct seccomp_notif_resp resp = {.id = notif.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
		_exit(ends(reader));
	}
	return ends(child);
}
