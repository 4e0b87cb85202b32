package packages

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// room bounds what an installer may put into a directory: bytes, and files with directories. npm and pip have no bound on
// what an archive unpacks to.
type room struct{ bytes, files int64 }

// enough is what an image may unpack to, too.
var enough = room{8 << 30, 1_000_000}

var errTooMuch = errors.New("it unpacks to")

// looks is the time between two looks at how much there is.
const looks = time.Second

// run runs an installer, with all processes that it starts, and kills them when there is more in the directory.
func (r room) run(cmd *exec.Cmd, dir string) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	kill := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel, cmd.WaitDelay = kill, time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	ended, found := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			err := r.check(dir)
			if err != nil {
				_ = kill() // it may have ended
				found <- err
				return
			}
			select {
			case <-ended:
				found <- r.check(dir)
				return
			case <-time.After(looks):
			}
		}
	}()
	err := cmd.Wait()
	close(ended)
	if much := <-found; much != nil {
		return much
	}
	return err
}

// check returns an error if there is more in a directory.
func (r room) check(dir string) error {
	left := r
	return filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it is gone again
		}
		if left.files--; left.files < 0 {
			return fmt.Errorf("%w more than %d files", errTooMuch, r.files)
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			left.bytes -= info.Size()
		}
		if left.bytes < 0 {
			return fmt.Errorf("%w more than %d MiB", errTooMuch, r.bytes>>20)
		}
		return nil
	})
}
