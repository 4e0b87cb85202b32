// Reads a planted key by another name: that of its directory has been changed.
//
// finding: MCPA-SECRET-001 High
// finding: MCPA-FILE-002 Medium
// finding: MCPA-PERSIST-001 High
// finding: MCPA-FILE-001 High
// expect: rename ~/.ssh -> ~/notes
// expect: read ~/notes/id_rsa
// expect: rename ~/notes -> ~/.ssh
#include "conformance.h"

static int act(void) {
	char keys[PATH_MAX];
	snprintf(keys, sizeof keys, "%s", in_home(".ssh"));
	int error = failed(rename(keys, in_home("notes")));
	error |= failed(open(in_home("notes/id_rsa"), O_RDONLY));
	snprintf(keys, sizeof keys, "%s", in_home("notes"));
	return error | failed(rename(keys, in_home(".ssh")));
}
