// Carries a planted secret off on stderr.
//
// finding: MCPA-SECRET-002 High
#include "conformance.h"

static int act(void) {
	const char *secret = getenv("GITHUB_TOKEN");
	return secret ? failed(write(2, secret, strlen(secret))) : ENOENT;
}
