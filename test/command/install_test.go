package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcpaudit/mcpaudit/test/poll"
)

// builds is the number of concurrent builds that find the cache empty.
const builds = 8

// TestMain lets the test binary act as a build that installs into the cache of its argument.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "install" {
		if err := installOnce(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// installOnce waits until all builds have started, installs, and leaves a mark beside the cache.
func installOnce(cache string) error {
	if err := os.WriteFile(fmt.Sprintf("%s.there-%d", cache, os.Getpid()), nil, 0o600); err != nil {
		return err
	}
	dir, err := Installed(cache, "debian", "1", func(dir string) error {
		if !poll.For(poll.Patience, func() bool {
			there, err := filepath.Glob(cache + ".there-*")
			return err != nil || len(there) == builds
		}) {
			return errors.New("the other builds did not start")
		}
		if err := os.WriteFile(filepath.Join(dir, "strace"), nil, 0o600); err != nil {
			return err
		}
		return os.WriteFile(fmt.Sprintf("%s.installed-%d", cache, os.Getpid()), nil, 0o600)
	})
	if err != nil {
		return err
	}
	_, err = os.Stat(filepath.Join(dir, "strace"))
	return err
}

// Two builds that found the cache empty used to fail with "rename: file exists".
func TestOneBuildInstallsWhatManyWant(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "images")
	var started []*exec.Cmd
	for range builds {
		build := exec.Command(os.Args[0], "install", cache)
		build.Stderr = os.Stderr
		if err := build.Start(); err != nil {
			t.Fatal(err)
		}
		started = append(started, build)
	}
	for _, build := range started {
		if err := build.Wait(); err != nil {
			t.Error(err)
		}
	}
	if installed, err := filepath.Glob(cache + ".installed-*"); err != nil || len(installed) != 1 {
		t.Errorf("installed by %q, %v", installed, err)
	}
	left, err := filepath.Glob(filepath.Join(cache, ".install-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the cache: %q, %v", left, err)
	}
}
