package sandbox_test

import (
	"strconv"
	"strings"
	"testing"
)

// TestLooksInUse: the server's surroundings are those of a machine that somebody works at.
func TestLooksInUse(t *testing.T) {
	o := shell(t, `echo $$; cat /proc/1/comm; tr "\0" " " < /proc/1/cmdline; echo; ls ~`)
	lines := strings.Split(o.stdout, "\n")
	if len(lines) < 3 {
		t.Fatalf("%q", o.stdout)
	}
	if pid, err := strconv.Atoi(lines[0]); err != nil || pid < 1000 {
		t.Errorf("the server has the process id %s", lines[0])
	}
	if lines[1] != "init" || strings.TrimSpace(lines[2]) != "/sbin/init" {
		t.Errorf("it was started by %q, %q", lines[1], lines[2])
	}
	if !strings.Contains(o.stdout, "Documents") {
		t.Errorf("nobody lives in its home: %q", lines[3:])
	}
}
