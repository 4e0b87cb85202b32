// Asks by each call that there is for it whether secrets are there, and opens none. What
// is asked of any other file makes no event.
//
// finding: MCPA-FILE-006 High
// expect: look(ENOENT) /srv/a/.aws
// expect: look(ENOENT) /srv/b/.aws/credentials
// expect: look(ENOENT) /srv/c/.azure
// expect: look(ENOENT) /srv/d/.azure/config
// expect: look(ENOENT) /srv/e/.kube/config
// expect: look(ENOENT) /srv/f/.kube
// expect: look(ENOENT) /srv/g/.mozilla/firefox
// expect: look(ENOENT) /srv/h/.mozilla
// expect: look(ENOENT) /srv/i/.electrum
// expect: look(ENOENT) /srv/j/.electrum/wallets
// expect: look(ENOENT) /srv/k/.ssh/id_rsa
// expect: look(ENOENT) /srv/l/.ssh
// expect: look(ENOENT) /srv/m/.ssh
// expect: look(ENOENT) /srv/n/.ssh
// expect: look(ENOENT) /srv/o/.ssh
// expect: look(ENOENT) /srv/p/.ssh
#include "conformance.h"
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

static int act(void) {
	struct stat status;
	struct statx more;
	struct statfs system;
	char text[64];
	stat("/etc/hostname", &status);
	syscall(SYS_stat, "/srv/a/.aws", &status);
	syscall(SYS_lstat, "/srv/b/.aws/credentials", &status);
	fstatat(AT_FDCWD, "/srv/c/.azure", &status, 0);
	statx(AT_FDCWD, "/srv/d/.azure/config", 0, STATX_BASIC_STATS, &more);
	statfs("/srv/e/.kube/config", &system);
	syscall(SYS_access, "/srv/f/.kube", R_OK);
	syscall(SYS_faccessat, AT_FDCWD, "/srv/g/.mozilla/firefox", R_OK);
	syscall(SYS_faccessat2, AT_FDCWD, "/srv/h/.mozilla", R_OK, AT_EACCESS);
	getxattr("/srv/i/.electrum", "user.a", text, sizeof text);
	lgetxattr("/srv/j/.electrum/wallets", "user.a", text, sizeof text);
	listxattr("/srv/k/.ssh/id_rsa", text, sizeof text);
	llistxattr("/srv/l/.ssh", text, sizeof text);
	syscall(SYS_readlink, "/srv/m/.ssh", text, sizeof text);
	chdir("/srv");
	readlinkat(AT_FDCWD, "n/.ssh", text, sizeof text);
	inotify_add_watch(inotify_init(), "/srv/o/.ssh", IN_MODIFY);
	stat("../srv/p/.ssh", &status);
	return 0;
}
