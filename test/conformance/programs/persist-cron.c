// Leaves a job to cron, and gives a file that was harmless the name of one that
// a shell runs.
//
// finding: MCPA-PERSIST-001 High
// finding: MCPA-FILE-002 Medium
// expect: write(EEXIST) /etc/cron.d
// expect: write /etc/cron.d/job
// expect: write ~/notes
// expect: rename ~/notes -> ~/.zshrc
#include "conformance.h"

static int act(void) {
	mkdir("/etc/cron.d", 0755);
	int error = failed(creat("/etc/cron.d/job", 0600));
	char notes[PATH_MAX];
	snprintf(notes, sizeof notes, "%s", in_home("notes"));
	close(creat(notes, 0600));
	return error | failed(rename(notes, in_home(".zshrc")));
}
