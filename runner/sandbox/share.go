package sandbox

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// halved are resource limits that the kernel counts for all processes of a user, in a user
// namespace also for the user who made it.
var halved = []int{unix.RLIMIT_MSGQUEUE, unix.RLIMIT_SIGPENDING, unix.RLIMIT_MEMLOCK}

// watched are what a user may have for watching files, and the limits of it that a user namespace sets.
var watched = map[string]string{
	"sys/fs/inotify/max_user_instances": "sys/user/max_inotify_instances",
	"sys/fs/inotify/max_user_watches":   "sys/user/max_inotify_watches",
}

// leaveHalf limits the server to half of what the kernel gives to a user, for which there is no control group: the other
// half stays with the user on the machine.
func leaveHalf(proc string) error {
	for _, resource := range halved {
		var limit unix.Rlimit
		if err := unix.Getrlimit(resource, &limit); err != nil {
			return fmt.Errorf("read a resource limit: %w", err)
		}
		limit = half(limit)
		if err := unix.Setrlimit(resource, &limit); err != nil {
			return fmt.Errorf("halve a resource limit: %w", err)
		}
	}
	for of, name := range watched {
		text, err := os.ReadFile(filepath.Join(proc, of))
		if err != nil {
			continue // a kernel without inotify
		}
		all, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return fmt.Errorf("read %s: %w", of, err)
		}
		if err := write(filepath.Join(proc, name), min(all, math.MaxInt32)/2); err != nil {
			return fmt.Errorf("limit the watching of files: %w", err)
		}
	}
	return nil
}

// half returns half of a limit. None stays none.
func half(limit unix.Rlimit) unix.Rlimit {
	if limit.Max != unix.RLIM_INFINITY {
		limit.Max /= 2
	}
	limit.Cur = min(limit.Cur, limit.Max)
	return limit
}
