package trace

import "golang.org/x/sys/unix"

// These older calls do not exist on newer architectures.
func init() {
	milliseconds[unix.SYS_EPOLL_WAIT], milliseconds[unix.SYS_POLL] = 3, 2
	pointers[unix.SYS_SELECT] = 4
}
