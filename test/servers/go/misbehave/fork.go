package main

import (
	"context"
	"syscall"
	"time"
)

// maxChildren bounds the fork bomb where no limit of the Pod does.
const maxChildren = 4000

// multiply has children until there is no room for more, and then whenever there is
// again. It returns when the server ends.
func multiply(ctx context.Context) string {
	for children := 0; children < maxChildren; {
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		for pid == 0 && errno == 0 { // the child, in which nothing of Go runs
			_, _, _ = syscall.RawSyscall6(syscall.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
		}
		if errno == 0 {
			children++
			continue
		}
		select {
		case <-ctx.Done():
			return ""
		case <-time.After(10 * time.Millisecond):
		}
	}
	<-ctx.Done()
	return ""
}
