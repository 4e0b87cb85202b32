package scripts

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpaudit/mcpaudit/test/poll"
)

// TestEndsWithoutATrace ends mcpaudit in the middle of an audit, in each way
// that it can end, and wants nothing of it left: no process, and no file either, which
// after a kill the next audit removes.
func TestEndsWithoutATrace(t *testing.T) {
	for _, tc := range []struct {
		signal   syscall.Signal
		code     int
		tidiesUp bool
	}{{syscall.SIGINT, 1, true}, {syscall.SIGTERM, 1, true}, {syscall.SIGKILL, -1, false}} {
		t.Run(tc.signal.String(), func(t *testing.T) {
			tmp, out := t.TempDir(), t.TempDir()
			cmd := exec.Command(filepath.Join(built, "mcpaudit"), "run", "--out-dir", out, "--", filepath.Join(built, "misbehave"), "silent")
			cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			poll.Until(t, "the server reads its first request", func() bool {
				b, err := os.ReadFile(filepath.Join(out, "trace.txt"))
				return err == nil && bytes.Contains(b, []byte("initialize"))
			})
			if len(mentioning(t, tmp)) == 0 {
				t.Fatal("no process of the sandbox is to be seen")
			}
			if err := cmd.Process.Signal(tc.signal); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != tc.code {
				t.Errorf("mcpaudit ended with %v, want exit code %d; stderr %q", err, tc.code, stderr.String())
			}
			poll.Until(t, "all processes are gone", func() bool { return len(mentioning(t, tmp)) == 0 })
			if !tc.tidiesUp {
				if left, err := os.ReadDir(tmp); err != nil || len(left) == 0 {
					t.Fatalf("%v (%v) is left: the next audit has nothing to remove", left, err)
				}
				next := exec.Command(filepath.Join(built, "mcpaudit"), "run", "--", filepath.Join(built, "misbehave"), "exit")
				next.Env = cmd.Env
				_ = next.Run() // that server is no success
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("%v (%v) is left", left, err)
			}
			if tc.tidiesUp && strings.TrimSpace(stderr.String()) != "mcpaudit: interrupted" {
				t.Errorf("stderr %q", stderr.String())
			}
		})
	}
}

// mentioning lists the processes whose command line mentions a text.
func mentioning(t *testing.T, text string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && bytes.Contains(b, []byte(text)) {
			found = append(found, file)
		}
	}
	return found
}
