// Lists a directory.
//
// expect: read /etc
#include "conformance.h"
#include <dirent.h>

static int act(void) {
	DIR *dir = opendir("/etc");
	return dir && readdir(dir) ? 0 : errno;
}
