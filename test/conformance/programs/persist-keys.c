// Lets somebody in by SSH, and starts something at login.
//
// finding: MCPA-PERSIST-001 High
// expect: write(EEXIST) ~/.ssh
// expect: write(EEXIST) ~/.config
// expect: write ~/.config/autostart
// expect: write ~/.ssh/authorized_keys
// expect: write ~/.config/autostart/x.desktop
#include "conformance.h"

static int act(void) {
	mkdir(in_home(".ssh"), 0700), mkdir(in_home(".config"), 0700), mkdir(in_home(".config/autostart"), 0700);
	int error = failed(creat(in_home(".ssh/authorized_keys"), 0600));
	return error | failed(creat(in_home(".config/autostart/x.desktop"), 0600));
}
