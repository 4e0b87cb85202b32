package scratch

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain makes the test binary a process that holds a directory until it is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		if _, err := New(); err != nil {
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString("held\n")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
	}
	os.Exit(m.Run())
}

// TestReap: what a killed process has left is removed, and nothing else.
func TestReap(t *testing.T) {
	tmp, outside := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", tmp)
	killed := exec.Command(os.Args[0], "hold")
	if _, err := killed.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := killed.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stdout, make([]byte, len("held\n"))); err != nil {
		t.Fatal(err)
	}
	left := names(t, tmp)
	if len(left) != 1 {
		t.Fatalf("the process made %q", left)
	}
	write(t, filepath.Join(tmp, left[0], "trace/trace.txt"))
	write(t, filepath.Join(outside, "precious"))
	if err := os.Symlink(outside, filepath.Join(tmp, left[0], "link")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tmp, "mcpaudit-of-the-user", "file"))
	write(t, filepath.Join(tmp, "other", marker))
	write(t, filepath.Join(outside, marker))
	if err := os.Symlink(outside, filepath.Join(tmp, "mcpaudit-link")); err != nil {
		t.Fatal(err)
	}

	live := dir(t)
	if got := names(t, tmp); len(got) != 5 {
		t.Errorf("while its process lives there are %q", got)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // it was killed
	next := dir(t)
	for _, path := range []string{live.Path, next.Path, filepath.Join(tmp, "mcpaudit-of-the-user/file"), filepath.Join(tmp, "other", marker), filepath.Join(outside, "precious")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(tmp, left[0])); !os.IsNotExist(err) {
		t.Errorf("what the killed process left is there: %v", err)
	}
	for _, d := range []*Dir{live, next} {
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
	}
	if got := names(t, tmp); len(got) != 3 {
		t.Errorf("in the end there are %q", got)
	}
}

// TestReapOthers: what belongs to another user stays.
func TestReapOthers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root makes files of others")
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	write(t, filepath.Join(tmp, "mcpaudit-1", marker))
	if err := os.Chown(filepath.Join(tmp, "mcpaudit-1"), 1, 1); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tmp, "mcpaudit-2", marker))
	if err := os.Chown(filepath.Join(tmp, "mcpaudit-2", marker), 1, 1); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(tmp, "mcpaudit-3", marker))
	if err := dir(t).Remove(); err != nil {
		t.Error(err)
	}
	if got := names(t, tmp); len(got) != 2 {
		t.Errorf("there are %q, want the two of another user", got)
	}
}

func dir(t *testing.T) *Dir {
	t.Helper()
	d, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}
