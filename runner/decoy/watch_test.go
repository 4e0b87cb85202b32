package decoy_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
)

// scarce has the test binary watch with one instance of inotify for all.
const scarce = "WATCH_WITH_ONE_INSTANCE"

func TestMain(m *testing.M) {
	if os.Getenv(scarce) == "" {
		os.Exit(m.Run())
	}
	if err := watchWithOne(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestWatch: an opening is reported by whatever name, and however often another file is opened.
func TestWatch(t *testing.T) {
	root := t.TempDir()
	set := newSet(t, "/home/server", false)
	home := filepath.Join(root, set.Home)
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := set.Plant(home, decoy.Private); err != nil {
		t.Fatal(err)
	}
	w, err := set.Watch(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) {
		if _, err := os.ReadFile(filepath.Join(home, name)); err != nil {
			t.Error(err)
		}
	}
	for range 20000 {
		read(".netrc")
		read(".npmrc")
	}
	if err := os.Rename(filepath.Join(home, ".aws"), filepath.Join(home, "x")); err != nil {
		t.Error(err)
	}
	read("x/credentials")
	if err := os.Link(filepath.Join(home, ".env"), filepath.Join(home, "y")); err != nil {
		t.Error(err)
	}
	read("y")
	var want []string
	for _, name := range []string{".netrc", ".npmrc", ".aws/credentials", ".env"} {
		want = append(want, filepath.Join(set.Home, name))
	}
	if got := w.End(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestWatchWaits: while others have all instances of inotify, which are few, an audit waits for one.
func TestWatchWaits(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), scarce+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER, // the bound of this namespace is ours
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func watchWithOne() error {
	if err := os.WriteFile("/proc/sys/user/max_inotify_instances", []byte("1"), 0); err != nil {
		return err
	}
	var set decoy.Set
	first, err := set.Watch(context.Background(), "/")
	if err != nil {
		return err
	}
	late, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := set.Watch(late, "/"); !errors.Is(err, syscall.EMFILE) {
		return fmt.Errorf("with no instance and no time: %w", err)
	}
	go first.End()
	second, err := set.Watch(context.Background(), "/")
	if err != nil {
		return fmt.Errorf("with an instance that ends: %w", err)
	}
	second.End()
	return nil
}
