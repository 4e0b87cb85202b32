// Makes a file by creat, and cuts and grows it by name and by descriptor.
//
// expect: write /tmp/sized
#include "conformance.h"

static int act(void) {
	int file = creat("/tmp/sized", 0600);
	int error = failed(file) | failed(ftruncate(file, 10)) | failed(fallocate(file, 0, 0, 20));
	return error | failed(truncate("/tmp/sized", 5));
}
