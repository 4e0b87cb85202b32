package harden

import (
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	landlocksys "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// read lists what a runner that talks to a server elsewhere reads after its start: how names
// are looked up, whom to trust, and what the Go runtime and the zone of the clock need.
var read = []string{"/etc", "/usr/share/zoneinfo", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates", "/proc/self", "/sys/kernel/mm", "/sys/fs/cgroup"}

// Files leaves a runner that traces nothing no file but those that it reads and those that
// are given, which it may write. The note says what the kernel cannot hold it to; "" for
// nothing.
//
// A runner that traces cannot be held so: a process in a Landlock domain traces, and looks
// into /proc/PID of, only those in the same domain (landlock(7)), and the server is not.
func Files(write ...string) (note string, err error) {
	abi, _ := landlocksys.LandlockGetABIVersion() // 0 with an error
	return restrict(abi, write)
}

func restrict(abi int, write []string) (string, error) {
	if abi <= 0 {
		return "the kernel has no Landlock: the runner was not held to its own files", nil
	}
	rules := []landlock.Rule{landlock.ROFiles(os.DevNull).IgnoreIfMissing(), landlock.RODirs(read...).IgnoreIfMissing()}
	for _, path := range write {
		rules = append(rules, landlock.RWFiles(path).IgnoreIfMissing())
	}
	if err := landlock.V5.BestEffort().RestrictPaths(rules...); err != nil {
		return "", fmt.Errorf("hold the runner to its own files: %w", err)
	}
	return "", nil
}
