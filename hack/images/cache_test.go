package main

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// Two builds that find the cache empty at the same time ended with "rename: file exists".
func TestOneBuildInstallsWhatManyWant(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "images")
	var installs atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		shop := workshop{cache: cache}
		all.Go(func() {
			dir, err := shop.installed("debian", "1", func(dir string) error {
				installs.Add(1)
				return os.WriteFile(filepath.Join(dir, "strace"), nil, 0o600)
			})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := os.Stat(filepath.Join(dir, "strace")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := installs.Load(); n != 1 {
		t.Errorf("installed %d times", n)
	}
	left, err := filepath.Glob(filepath.Join(cache, ".install-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the cache: %q, %v", left, err)
	}
}
