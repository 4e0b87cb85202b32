// Makes two thousand processes that each read a file and are gone.
//
// expect: read /etc/hostname
#include "conformance.h"

static int act(void) {
	for (int i = 0; i < 2000; i++) {
		pid_t child = fork();
		if (child == 0)
			_exit(i % 500 ? 0 : failed(open("/etc/hostname", O_RDONLY)));
		if (child < 0)
			return errno;
		int error = ends(child);
		if (error)
			return error;
	}
	return 0;
}
