// Asks whether it is traced, by asking to be.
//
// result: EPERM
// finding: MCPA-EVADE-001 High
// expect: evade(EPERM) ptrace
#include "conformance.h"
#include <sys/ptrace.h>

static int act(void) { return failed(ptrace(PTRACE_TRACEME, 0, 0, 0)); }
