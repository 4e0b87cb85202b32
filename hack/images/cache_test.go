package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain makes the test binary a build that waits for its standard input to end and
// then installs into the cache that its argument names.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "install" {
		_, _ = io.Copy(io.Discard, os.Stdin) // until all are there
		if err := installOnce(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// installOnce installs, and notes beside the cache that it did.
func installOnce(cache string) error {
	shop := workshop{cache: cache}
	dir, err := shop.installed("debian", "1", func(dir string) error {
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

// Two builds that find the cache empty at the same time ended with "rename: file exists".
func TestOneBuildInstallsWhatManyWant(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "images")
	ready, start, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var builds []*exec.Cmd
	for range 8 {
		build := exec.Command(os.Args[0], "install", cache)
		build.Stdin, build.Stderr = ready, os.Stderr
		if err := build.Start(); err != nil {
			t.Fatal(err)
		}
		builds = append(builds, build)
	}
	_, _ = ready.Close(), start.Close() // the builds have it, and go on now
	for _, build := range builds {
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
