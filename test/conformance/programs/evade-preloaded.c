// As evade-traceme, before the server says a word.
//
// flags: -DPRELOAD
// result: EPERM
// finding: MCPA-EVADE-001 High
// expect: evade(EPERM) ptrace
#include "conformance.h"
#include <sys/ptrace.h>

static int act(void) { return failed(ptrace(PTRACE_TRACEME, 0, 0, 0)); }
