// Reads files in a pool of threads.
//
// expect: read /etc/hostname
// expect: read /etc/hosts
#include "conformance.h"
#include <pthread.h>

static void *work(void *name) { return open(name, O_RDONLY) < 0 ? name : NULL; }

static int act(void) {
	pthread_t pool[8];
	void *bad = NULL, *one;
	for (int i = 0; i < 8; i++)
		pthread_create(&pool[i], NULL, work, i % 2 ? "/etc/hostname" : "/etc/hosts");
	for (int i = 0; i < 8; i++) {
		pthread_join(pool[i], &one);
		bad = one ? one : bad;
	}
	return bad ? ENOENT : 0;
}
