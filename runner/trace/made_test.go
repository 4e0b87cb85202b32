package trace

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const shimmed = `10 1700000000.000001 execve("/shim", ["shim"], 0x7ffd /* 1 var */) = 0 <0.000100>
10 1700000000.000002 unlink("/shim-own") = 0 <0.000100>
10 1700000000.000003 execve("/server", ["server"], 0x7ffd /* 1 var */) = 0 <0.000100>
`

// made returns the calls of a server from the lines after its start.
func made(t *testing.T, lines string) Made {
	t.Helper()
	d := newDecoder(Config{Shim: "/shim"}, func(Event) {})
	for line := range strings.Lines(shimmed + lines) {
		d.feed([]byte(strings.TrimSuffix(line, "\n")))
	}
	d.close()
	if d.stats.Unparsed > 0 {
		t.Fatalf("not parsed: %s", d.stats.Sample)
	}
	return d.made
}

func TestMade(t *testing.T) {
	const at = "10 1700000001.000001 "
	for name, tc := range map[string]struct {
		lines     string
		calls     []string
		families  []string
		processes bool
	}{
		"nothing": {"", []string{"execve"}, nil, false},
		"sockets": {at + `socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, IPPROTO_IP) = 3<socket:[7]> <0.000010>
` + at + `socketpair(AF_UNIX, SOCK_STREAM, 0, [4<UNIX-STREAM:[8]>, 5<UNIX-STREAM:[9]>]) = 0 <0.000010>
` + at + `socket(AF_TIPC, SOCK_RAW, 0) = -1 EAFNOSUPPORT (Address family not supported by protocol) <0.000010>
`, []string{"execve", "socket", "socketpair"}, []string{"inet", "other", "unix"}, false},
		"a failed call counts": {at + `chmod("/x", 0700) = -1 ENOENT (No such file or directory) <0.000010>
`, []string{"chmod", "execve"}, nil, false},
		"a thread": {at + `clone(child_stack=0x7f, flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD) = 11 <0.000010>
11 1700000002.000001 rmdir("/y") = 0 <0.000010>
`, []string{"clone", "execve", "rmdir"}, nil, false},
		"a process": {at + `clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 11 <0.000010>
`, []string{"clone", "execve"}, nil, true},
		"a call that never returned": {at + `listen(3<TCP:[7]>, 5 <unfinished ...>
10 1700000002.000001 +++ killed by SIGKILL +++
`, []string{"execve", "listen"}, nil, false},
		"what the tracer does not report each time": {at + `read(3</etc/passwd>, "x", 1) = 1 <0.000010>
`, []string{"execve"}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := made(t, tc.lines)
			calls, unmade := m.Calls()
			if diff := cmp.Diff(tc.calls, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.families, m.Families()); diff != "" {
				t.Errorf("families (-want +got):\n%s", diff)
			}
			if m.Processes() != tc.processes {
				t.Errorf("processes: %t", m.Processes())
			}
			for _, name := range calls {
				if slices.Contains(unmade, name) {
					t.Errorf("%s was made, and was not", name)
				}
			}
			for _, name := range []string{"read", "write", "mmap", "sendto"} {
				if slices.Contains(unmade, name) || slices.Contains(calls, name) {
					t.Errorf("of %s nothing can be said", name)
				}
			}
			if len(calls)+len(unmade) != len(counted) || !slices.IsSorted(unmade) {
				t.Errorf("%d calls and %d others of %d", len(calls), len(unmade), len(counted))
			}
		})
	}
	if len(counted) > 256 {
		t.Errorf("%d calls have no room in Made", len(counted))
	}
}

func TestMadeJoins(t *testing.T) {
	const at = "10 1700000001.000001 "
	a, b := made(t, at+"rmdir(\"/y\") = 0 <0.000010>\n"), made(t, at+"clone(child_stack=NULL, flags=SIGCHLD) = 11 <0.000010>\n")
	a.Join(b)
	if calls, _ := a.Calls(); !slices.Equal(calls, []string{"clone", "execve", "rmdir"}) || !a.Processes() {
		t.Errorf("%v, processes %t", calls, a.Processes())
	}
}
