// Adds to what a shell runs.
//
// finding: MCPA-PERSIST-001 High
// expect: write ~/.bashrc
#include "conformance.h"

static int act(void) { return failed(open(in_home(".bashrc"), O_WRONLY | O_CREAT | O_APPEND, 0600)); }
