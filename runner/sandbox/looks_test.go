package sandbox_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/audit"
	"github.com/mcpaudit/mcpaudit/runner/sandbox"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestLooksInUse: the server's surroundings are those of a machine that somebody works at.
func TestLooksInUse(t *testing.T) {
	o := shell(t, `echo $$; cat /proc/1/comm; tr "\0" "|" < /proc/1/cmdline; echo; cat /proc/sys/kernel/hostname /etc/hostname
		grep -cwf /etc/hostname /etc/hosts; echo $PPID; cat /proc/$PPID/comm; ls -d /.dockerenv; ls ~`)
	lines := strings.Split(o.stdout, "\n")
	if len(lines) < 8 {
		t.Fatalf("%q", o.stdout)
	}
	if pid, err := strconv.Atoi(lines[0]); err != nil || pid < 1000 {
		t.Errorf("the server has the process id %s", lines[0])
	}
	if lines[1] != "init" || lines[2] != "/sbin/init|" {
		t.Errorf("process 1 is %q, %q", lines[1], lines[2])
	}
	if !regexp.MustCompile(`^[a-z]+-[a-z0-9]+$`).MatchString(lines[3]) || lines[4] != lines[3] || lines[5] == "0" {
		t.Errorf("the machine is called %q, in /etc/hostname %q, and %s times in /etc/hosts", lines[3], lines[4], lines[5])
	}
	if parent, err := strconv.Atoi(lines[6]); err != nil || parent < 100 || lines[7] != "bash" {
		t.Errorf("it was started by process %s, %q", lines[6], lines[7])
	}
	if strings.Contains(o.stdout, "dockerenv") {
		t.Error("a container engine has left its mark")
	}
	if !strings.Contains(o.stdout, "Documents") {
		t.Errorf("nobody lives in its home: %q", lines[8:])
	}
}

// TestCompany: where a client has started the server, the programs of a desktop seem to run beside it. They
// end with it, and nothing that they do is taken for its doing.
func TestCompany(t *testing.T) {
	for _, tracer := range []plan.Tracer{plan.TracerStrace, plan.TracerPtrace} {
		t.Run(string(tracer), func(t *testing.T) {
			launcher, err := sandbox.New([]string{"sh", "-c", `cat /proc/[0-9]*/cmdline | tr "\0" "\n"`}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			launcher.Tracer = tracer
			o := startWith(t, launcher, audit.Start{Parent: "/usr/share/code/code"})
			seen := strings.Split(o.stdout, "\n")
			for _, want := range []string{"/usr/share/code/code", "/usr/bin/gnome-shell", "/usr/bin/zsh"} {
				if !slices.Contains(seen, want) {
					t.Errorf("no %s among %q", want, seen)
				}
			}
			if alike := strings.Count(o.stdout, "/opt/google/chrome/chrome\n"); alike < 12 || len(seen) < 34 {
				t.Errorf("%d processes of a browser, and %d in all", alike, len(seen))
			}
			if status, known := o.process.Status(); !known || status.ExitStatus() != 0 {
				t.Errorf("it ended with %v, %v", status, known)
			}
			if programs := executed(o.events); len(programs) != 3 { // sh, cat and tr
				t.Errorf("executed %q", programs)
			}
		})
	}
}

// TestAtHome: the machine is a laptop in a home, with a session on it.
func TestAtHome(t *testing.T) {
	o := shell(t, `ls -d /sys/class/net/*/wireless; cat /sys/class/dmi/id/chassis_type; cat /sys/class/net/wlp2s0/address; cat /sys/class/tty/*/dev | head -n 1
		test -S /run/user/1000/keyring/ssh && echo agent; ls -d /run/systemd/system; grep -cE "^(search|domain) " /etc/resolv.conf; find /etc/hostname -mtime +30
		python3 -c 'import fcntl, socket, struct; print(struct.unpack("16xh", fcntl.ioctl(socket.socket(), 0x8913, struct.pack("18s", b"wlp2s0")))[0] & 0x41)'`)
	want := "/sys/class/net/wlp2s0/wireless\n10\n3c:58:c2:4a:91:d7\n"
	rest, ok := strings.CutPrefix(o.stdout, want)
	if device, after, _ := strings.Cut(rest, "\n"); !ok || !strings.Contains(device, ":") || after != "agent\n/run/systemd/system\n1\n/etc/hostname\n65\n" {
		t.Errorf("it sees %q", o.stdout)
	}
}

// executed are the programs that were started.
func executed(events []trace.Event) (all []string) {
	for _, e := range events {
		if e.Op == trace.OpExec {
			all = append(all, e.Path)
		}
	}
	return all
}

// Machines whose name stands in their table of hosts, and that stands there by another.
func TestRenamed(t *testing.T) {
	for hosts, want := range map[string]string{
		"127.0.0.1\tlocalhost\n127.0.1.1 vm.example vm\n": "127.0.0.1 localhost\n127.0.1.1 vm.example anna-pc\n",
		"127.0.0.1 localhost":                             "127.0.0.1 localhost\n127.0.1.1 anna-pc\n",
		"":                                                "127.0.1.1 anna-pc\n",
	} {
		if got := sandbox.Renamed(hosts, "vm", "anna-pc"); got != want {
			t.Errorf("%q: %q, want %q", hosts, got, want)
		}
	}
}
