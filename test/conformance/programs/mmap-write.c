// Changes a file in memory: no write is ever called.
//
// expect: write /tmp/mapped
// expect: map /tmp/mapped
#include "conformance.h"

static int act(void) {
	int file = open("/tmp/mapped", O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, 4096) < 0)
		return errno;
	char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (memory == MAP_FAILED)
		return errno;
	memcpy(memory, "changed", 7);
	return failed(msync(memory, 4096, MS_SYNC));
}
