// Reads a file in each of a thousand threads, while the others come and go.
//
// expect: read /etc/hostname
#include "conformance.h"
#include <pthread.h>

static void *work(void *unused) {
	int file = open("/etc/hostname", O_RDONLY);
	close(file);
	return file < 0 ? (void *)1 : unused;
}

static int act(void) {
	pthread_t pool[50];
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 50; i++) {
			int error = pthread_create(&pool[i], NULL, work, NULL);
			if (error)
				return error;
		}
		for (int i = 0; i < 50; i++)
			pthread_join(pool[i], NULL);
	}
	return 0;
}
