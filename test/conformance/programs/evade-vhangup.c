// Hangs up the terminal for everybody who uses it (vhangup(2)).
//
// result: EPERM
// finding: MCPA-EVADE-001 Medium
// expect: evade(EPERM) vhangup
#include "conformance.h"

static int act(void) { return failed(vhangup()); }
