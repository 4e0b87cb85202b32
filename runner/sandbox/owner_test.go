package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestS13RootIsNobodyOutside: a server that root starts has an id on the machine that
// owns nothing, and reads what it was started for all the same.
func TestS13RootIsNobodyOutside(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("for root only: anybody else has no more than their own id")
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	write(t, filepath.Join(home, "project/.env.local"), "mine\n")
	for _, dir := range []string{home, filepath.Join(home, "project")} {
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(home, "project/.env.local"), 0o600); err != nil {
		t.Fatal(err)
	}
	state, err := os.MkdirTemp("/var/lib", "mcpaudit-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	write(t, filepath.Join(state, "user-data"), "only for root")
	for path, mode := range map[string]os.FileMode{state: 0o755, filepath.Join(state, "user-data"): 0o600} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(home, "project"))
	o := shell(t, `id -u; cat .env.local; echo new >> .env.local && tail -n 1 .env.local; stat -c %u .env.local; cat /proc/self/uid_map; id -G
cat `+state+`/user-data; echo x > `+state+`/new; ls `+state+`; mkdir -p /etc/cron.d && echo job > /etc/cron.d/job && cat /etc/cron.d/job`)
	fields := strings.Fields(o.stdout)
	if got, want := strings.Join(fields, " "), "0 mine new 0 0 1900061713 65536 0 new user-data job"; got != want {
		t.Errorf("the server saw %q, want %q", got, want)
	}
}

// TestS13NoNamespaceOfItsOwn: the server makes no user namespace, in which it would have
// every capability, and the attempt is in the trace.
func TestS13NoNamespaceOfItsOwn(t *testing.T) {
	for _, tracer := range []plan.Tracer{plan.TracerStrace, plan.TracerPtrace} {
		for _, command := range [][]string{
			{"unshare", "-U", "echo", "made"},
			{"python3", "-c", cloneUser},
		} {
			o := runUnder(t, tracer, report.NetworkDeny, command...)
			if strings.Contains(o.stdout, "made") {
				t.Errorf("%s, %s: the server has a user namespace of its own", tracer, command[0])
			}
			seen := false
			for _, e := range o.events {
				seen = seen || e.Op == trace.OpEvade && e.Errno != ""
			}
			if !seen {
				t.Errorf("%s, %s: the attempt is not in the trace; stdout %q, stderr %q", tracer, command[0], o.stdout, o.stderr)
			}
		}
	}
}

// cloneUser calls clone(CLONE_NEWUSER|SIGCHLD).
const cloneUser = `
import ctypes, os, platform
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 56, "aarch64": 220}[platform.machine()]
pid = libc.syscall(number, 0x10000000 | 17, 0, 0, 0, 0)
if pid == 0:
    os._exit(0)
print("made" if pid > 0 else "refused %d" % ctypes.get_errno())
`
