// Reads the memory of its parent.
//
// result: EPERM
// finding: MCPA-EVADE-001 Medium
// expect: evade(EPERM) process_vm_readv
#include "conformance.h"
#include <sys/uio.h>

static int act(void) {
	char here[8];
	struct iovec ours = {here, sizeof here}, theirs = {(void *)0x400000, sizeof here};
	return failed(process_vm_readv(getppid(), &ours, 1, &theirs, 1, 0));
}
