package trace

import (
	"fmt"
	"strings"
	"testing"
)

// fork is the line of a fork that has returned.
func fork(parent, child int) string {
	return fmt.Sprintf(`%d 2.000000 clone(child_stack=NULL, flags=SIGCHLD) = %d <0.000001>`, parent, child)
}

const touch = ` 2.000000 openat(AT_FDCWD</>, "/a", O_RDONLY) = 3</a> <0.000001>`

// TestOrigin: the position at which the process of the last event, or the worker
// that it descends from, was started.
func TestOrigin(t *testing.T) {
	request := func(pid, size int) string {
		return fmt.Sprintf(`%d 2.000000 read(0<pipe:[%d]>, "x"..., 9999) = %d <0.000001>`, pid, inode, size)
	}
	for name, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"the main process": {[]string{request(5, 10), "5" + touch}, "none"},
		"a thread of it": {[]string{request(5, 10),
			`5 2.000000 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0}, 88) = 6 <0.000001>`, "6" + touch}, "none"},
		"a child, in a later call": {[]string{request(5, 10), fork(5, 6), request(5, 10), "6" + touch}, "10"},
		"a grandchild of a later call": {
			[]string{request(5, 10), fork(5, 6), request(5, 10), fork(6, 7), request(5, 10), "7" + touch}, "10 20"},
		"of more generations than are kept": {[]string{request(5, 10), fork(5, 6), request(5, 10), fork(6, 7),
			request(5, 10), fork(7, 8), request(5, 10), fork(8, 9), request(5, 10), fork(9, 10), "10" + touch}, "10 20 30 40"},
		"a grandchild of one call": {[]string{request(5, 10), fork(5, 6), fork(6, 7), request(5, 10), "7" + touch}, "10"},
		"a child of the start":     {[]string{fork(5, 6), request(5, 10), "6" + touch}, ""},
		"the child of a server below a launcher": {
			[]string{fork(5, 6), request(6, 10), request(6, 10), fork(6, 7), request(6, 10), "7" + touch}, "20"},
		"a child that speaks first": {[]string{request(5, 10),
			`5 2.000000 vfork( <unfinished ...>`, "6" + touch}, "10"},
		"a thread that speaks first": {[]string{request(5, 10), fork(5, 6), request(5, 10),
			`6 2.000000 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0} <unfinished ...>`, "7" + touch}, "10"},
		"a process that was taken for a thread": {[]string{request(5, 10),
			`5 2.000000 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0} <unfinished ...>`,
			"6" + touch,
			`5 2.000000 <... clone3 resumed>) = 9 <0.000001>`,
			request(5, 10), fork(5, 6), "6" + touch}, "20"},
	} {
		var last Event
		d := newDecoder(Config{Stdin: inode, Stdout: output}, func(e Event) { last = e })
		for _, l := range append([]string{begin}, tc.lines...) {
			d.feed([]byte(l))
		}
		got := "none"
		if last.Lineage {
			got = ""
			for _, o := range last.Origins {
				got = strings.TrimSpace(fmt.Sprint(got, " ", o.In))
			}
		}
		if got != tc.want || last.Lineage == last.Main || d.stats.Unparsed > 0 {
			t.Errorf("%s: origin %s, want %s (%+v)", name, got, tc.want, last)
		}
	}
}

// TestDaemon: a process that outlives its parent, or has its own session, is a daemon.
func TestDaemon(t *testing.T) {
	const exited, session = ` 2.000000 +++ exited with 0 +++`, ` 2.000000 setsid() = 9 <0.000001>`
	for name, tc := range map[string]struct {
		lines []string
		want  bool
	}{
		"a child":                     {[]string{fork(5, 6), "6" + touch}, false},
		"with a parent that has gone": {[]string{fork(5, 6), fork(6, 7), "6" + exited, "7" + touch}, true},
		"the child of a daemon":       {[]string{fork(5, 6), fork(6, 7), "6" + exited, fork(7, 8), "8" + touch}, true},
		"without the main process":    {[]string{fork(5, 6), "5" + exited, "6" + touch}, true},
		"with a session":              {[]string{fork(5, 6), "6" + session, "6" + touch}, true},
		"with its parent's session":   {[]string{fork(5, 6), "6" + session, fork(6, 7), "7" + touch}, true},
		"the main process":            {[]string{"5" + session, fork(5, 6), "6" + touch}, false},
		"a thread of the parent has gone": {[]string{fork(5, 6),
			`6 2.000000 clone3({flags=CLONE_THREAD, exit_signal=0}, 88) = 7 <0.000001>`,
			fork(7, 8), "7" + exited, "8" + touch}, false},
	} {
		var last Event
		d := newDecoder(Config{}, func(e Event) { last = e })
		for _, l := range append([]string{begin}, tc.lines...) {
			d.feed([]byte(l))
		}
		if last.Daemon != tc.want || d.stats.Unparsed > 0 {
			t.Errorf("%s: daemon %t, want %t (%+v)", name, last.Daemon, tc.want, last)
		}
	}
}

// TestKilledDaemons: only killed daemons count, not all processes that the end of
// the audit kills.
func TestKilledDaemons(t *testing.T) {
	const exited, killed, session = ` 2.000000 +++ exited with 0 +++`, ` 2.000000 +++ killed by SIGKILL +++`, ` 2.000000 setsid() = 9 <0.000001>`
	for name, tc := range map[string]struct {
		lines []string
		want  int
	}{
		"a session of its own":      {[]string{fork(5, 6), "6" + session, "5" + killed, "6" + killed}, 1},
		"without its parent":        {[]string{fork(5, 6), fork(6, 7), "6" + exited, "7" + killed}, 1},
		"a child, after its parent": {[]string{fork(5, 6), "5" + killed, "6" + killed}, 0},
		"a daemon that ended":       {[]string{fork(5, 6), "6" + session, "6" + exited, "5" + killed}, 0},
		"the main process":          {[]string{"5" + session, "5" + killed}, 0},
	} {
		d := newDecoder(Config{}, func(Event) {})
		for _, l := range append([]string{begin}, tc.lines...) {
			d.feed([]byte(l))
		}
		if d.stats.KilledDaemons != tc.want {
			t.Errorf("%s: %d, want %d", name, d.stats.KilledDaemons, tc.want)
		}
	}
}

// TestAncestors: a server that forks and exits forever leaves no chain of ancestors.
func TestAncestors(t *testing.T) {
	d := newDecoder(Config{}, func(Event) {})
	d.feed([]byte(begin))
	for pid := 5; pid < 1000; pid++ { // two generations at a time
		d.feed([]byte(fork(pid, pid+1)))
		if pid > 5 {
			d.feed(fmt.Appendf(nil, "%d 2.000000 +++ exited with 0 +++", pid-1))
		}
	}
	length := 0
	for p := d.tasks.known[1000].process; p != nil; p = p.parent {
		length++
	}
	if length > 3 {
		t.Errorf("%d ancestors are kept", length)
	}
}

// TestEnvironment: the variables of a program that differ from the server's.
func TestEnvironment(t *testing.T) {
	events, _ := decode(Config{}, []byte(`5 1.000000 execve("/srv", ["/srv"], ["HOME=/root", "A=1"]) = 0 <0.000001>
5 1.000001 execve("/bin/sh", ["sh"], ["A=2", "HOME=/root", "B=x\ny"..., "AWS_SECRET=hunter2"]) = 0 <0.000001>
5 1.000002 execveat(3</bin/sh>, "", ["sh"], ["HOME=/root", "A=1"], AT_EMPTY_PATH) = 0 <0.000001>
`))
	want := []string{`[]`, `["A=2" "B=x\ny" "AWS_SECRET=hunter2"]`, `[]`}
	for i, e := range events {
		if got := fmt.Sprintf("%q", e.Env); got != want[i] {
			t.Errorf("%s: env %s, want %s", e.Detail, got, want[i])
		}
	}
}

// TestThread: the position at which a thread was started.
func TestThread(t *testing.T) {
	const thread = ` 2.000000 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0}, 88) = 6 <0.000001>`
	request := func(pid int) string {
		return fmt.Sprintf(`%d 2.000000 read(0<pipe:[%d]>, "x"..., 9999) = 10 <0.000001>`, pid, inode)
	}
	for name, tc := range map[string]struct {
		lines []string
		want  int64
	}{
		"the first":                {[]string{request(5), request(5), "5" + touch}, 0},
		"one of the first call":    {[]string{request(5), "5" + thread, request(5), "6" + touch}, 10},
		"one that speaks first":    {[]string{request(5), `5 2.000000 clone3({flags=CLONE_THREAD <unfinished ...>`, "6" + touch}, 10},
		"a number that comes back": {[]string{request(5), "5" + thread, "6 2.0 +++ exited with 0 +++", fork(5, 6), "6" + touch}, 0},
	} {
		var last Event
		d := newDecoder(Config{Stdin: inode, Stdout: output}, func(e Event) { last = e })
		for _, l := range append([]string{begin}, tc.lines...) {
			d.feed([]byte(l))
		}
		if last.Path != "/a" || last.Thread.In != tc.want {
			t.Errorf("%s: thread of %d, want %d (%+v)", name, last.Thread.In, tc.want, last)
		}
	}
}

// TestWithin: the outermost program around the last event.
func TestWithin(t *testing.T) {
	const request = `5 2.000000 read(0<pipe:[40]>, "x"..., 9999) = 10 <0.000001>`
	run := func(pid int, program, result string) string {
		return fmt.Sprintf(`%d 2.000000 execve("%s", ["x"], 0x1 /* 0 vars */) = %s <0.000001>`, pid, program, result)
	}
	long := "/" + strings.Repeat("x", 2*MaxWithin)
	for name, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"the start of a program":     {[]string{request, fork(5, 6), run(6, "/bin/sh", "0")}, ""},
		"what it does":               {[]string{request, fork(5, 6), run(6, "/bin/sh", "0"), "6" + touch}, "/bin/sh"},
		"what it starts":             {[]string{request, fork(5, 6), run(6, "/bin/sh", "0"), fork(6, 7), run(7, "/bin/ls", "0"), "7" + touch}, "/bin/sh"},
		"what it becomes":            {[]string{request, fork(5, 6), run(6, "/bin/sh", "0"), run(6, "/bin/ls", "0")}, "/bin/sh"},
		"a search along PATH":        {[]string{request, fork(5, 6), run(6, "/bin/x", "-1 ENOENT (No such file)"), run(6, "/usr/bin/x", "0"), "6" + touch}, "/usr/bin/x"},
		"a worker without a program": {[]string{request, fork(5, 6), "6" + touch}, ""},
		"the server becomes another": {[]string{request, run(5, "/bin/node", "0"), "5" + touch}, ""},
		"started before all":         {[]string{fork(5, 6), run(6, "/bin/node", "0"), request, "6" + touch}, ""},
		"a program before its fork is heard of": {[]string{request,
			`5 2.000000 vfork( <unfinished ...>`, run(6, "/bin/sh", "0"), `5 2.000000 <... vfork resumed>) = 6 <0.000001>`, "6" + touch}, "/bin/sh"},
		"a long name": {[]string{request, fork(5, 6), run(6, long, "0"), "6" + touch}, long[:MaxWithin]},
	} {
		var last Event
		d := newDecoder(Config{Stdin: inode, Stdout: output}, func(e Event) { last = e })
		for _, l := range append([]string{begin}, tc.lines...) {
			d.feed([]byte(l))
		}
		if last.Within != tc.want || d.stats.Unparsed > 0 {
			t.Errorf("%s: within %q, want %q", name, last.Within, tc.want)
		}
	}
}

// TestProgram: the program of the last event, even a shell's, and before any request.
func TestProgram(t *testing.T) {
	run := func(pid int, program, result string) string {
		return fmt.Sprintf(`%d 2.000000 execve("%s", ["x"], 0x1 /* 0 vars */) = %s <0.000001>`, pid, program, result)
	}
	for want, lines := range map[string][]string{
		"/usr/bin/ps": {fork(5, 6), run(6, "/bin/sh", "0"), fork(6, 7), run(7, "/usr/bin/ps", "0"), "7" + touch},
		"/bin/sh":     {fork(5, 6), run(6, "/bin/sh", "0"), fork(6, 7), run(7, "/usr/bin/ps", "-1 EACCES (Permission denied)"), "7" + touch},
		"/bin/node":   {run(5, "/usr/bin/ps", "0"), run(5, "/bin/node", "0"), "5" + touch},
	} {
		var last Event
		d := newDecoder(Config{Stdin: inode, Stdout: output}, func(e Event) { last = e })
		for _, l := range append([]string{begin}, lines...) {
			d.feed([]byte(l))
		}
		if last.Path != "/a" || last.Program != want {
			t.Errorf("program %q, want %q", last.Program, want)
		}
	}
}

// TestRuntimeOfTheSandbox: threads that the sandbox's own processes make while the server
// runs are not the server's, even if their numbers need no translation.
func TestRuntimeOfTheSandbox(t *testing.T) {
	lines := []string{
		`10 1.000000 execve("/proc/self/exe", ["mcpaudit", "sandbox-enter"], 0x1 /* 0 vars */) = 0 <0.000001>`,
		`10 1.100000 clone(child_stack=NULL, flags=CLONE_NEWPID|CLONE_NEWNS|SIGCHLD) = 11 <0.000001>`,
		`11 1.200000 clone(child_stack=0x1, flags=CLONE_VM|CLONE_THREAD) = 2 /* 12 in strace's PID NS */ <0.000001>`,
		`12 1.300000 clone(child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIGCHLD <unfinished ...>`,
		`13 1.400000 execve("/srv", ["/srv"], 0x1 /* 0 vars */) = 0 <0.000001>`,
		`12 1.500000 <... clone resumed>) = 3 /* 13 in strace's PID NS */ <0.000001>`,
		`10 1.600000 clone(child_stack=0x1, flags=CLONE_VM|CLONE_THREAD) = 14 <0.000001>`,
		`14 1.700000 tgkill(10, 10, SIGURG) = 0 <0.000001>`,
		`11 1.800000 clone(child_stack=0x1, flags=CLONE_VM|CLONE_THREAD) = 4 /* 15 in strace's PID NS */ <0.000001>`,
		`15 1.900000 tgkill(1 /* 11 in strace's PID NS */, 1 /* 11 in strace's PID NS */, SIGURG) = 0 <0.000001>`,
		`13 2.000000 tgkill(1 /* 11 in strace's PID NS */, 1 /* 11 in strace's PID NS */, SIGURG) = 0 <0.000001>`,
	}
	events, _ := decode(Config{Reexec: "/proc/self/exe"}, []byte(strings.Join(lines, "\n")+"\n"))
	var by []int
	for _, e := range events {
		if e.Op == OpEvade {
			by = append(by, e.PID)
		}
	}
	if len(by) != 1 || by[0] != 13 {
		t.Errorf("evasions by %v, want one by the server, 13", by)
	}
}
