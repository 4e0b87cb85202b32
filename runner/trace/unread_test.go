package trace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestUnnamed: a task that is killed while stopped at a call's entry leaves a call
// without a name (lines of strace 6.1, of killed Python threads). A call that was
// entered by then is reported as one that never returned.
func TestUnnamed(t *testing.T) {
	for _, name := range []string{"???", "????"} {
		got, stats := decodeLines(t,
			`5 2.000000 `+name+`( <unfinished ...>`,
			`6 2.000001 openat(AT_FDCWD</>, "/a", O_RDONLY <unfinished ...>`,
			`5 2.000002 <... `+name+` resumed>) = ?`,
			`6 2.000003 <... `+name+` resumed>) = ? <unavailable>`,
			`7 2.000004 `+name+`()           = ?`,
			`7 2.000005 `+name+`( <unavailable>) = ? <unavailable>`,
			`7 2.000006 openat( <unavailable>) = ? <unavailable>`,
			`5 2.000007 +++ killed by SIGKILL +++`,
		)
		if stats.Unparsed != 0 {
			t.Errorf("%s: not parsed: %s", name, stats.Sample)
		}
		want := []string{`6 read openat error=? path="/a" flags=O_RDONLY origin=0/0 at=0/0`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", name, diff)
		}
		if stats.Blinded != 0 {
			t.Errorf("%s: %d blinded: a dead process has no memory to read", name, stats.Blinded)
		}
	}
}

// TestForbidden: a kill by a seccomp filter is seen from the end of the task alone:
// without the call, before the clone that made the task has returned, and in any
// thread.
func TestForbidden(t *testing.T) {
	for name, tc := range map[string]struct{ lines, want []string }{
		"after the call": {
			[]string{`5 2.000000 socket(AF_VSOCK, SOCK_STREAM, 0) = ?`, `5 2.000001 +++ killed by SIGSYS (core dumped) +++`},
			[]string{`5 evade SIGSYS error=? main at=0/0`}},
		"by a child that nobody has heard of": {
			[]string{`5 2.000000 vfork( <unfinished ...>`, `6 2.000001 +++ killed by SIGSYS +++`, `5 2.000002 <... vfork resumed>) = 6 <0.000001>`},
			[]string{`6 evade SIGSYS error=? origin=0/0 at=0/0`}},
		"another end": {[]string{`5 2.000000 +++ killed by SIGSEGV +++`}, nil},
	} {
		got, stats := decodeLines(t, tc.lines...)
		if diff := cmp.Diff(tc.want, got); diff != "" || stats.Unparsed != 0 || stats.Alive > 1 {
			t.Errorf("%s: %d not parsed, %d alive; events (-want +got):\n%s", name, stats.Unparsed, stats.Alive, diff)
		}
	}
}

// TestForbiddenWhenAttached: strace that stops at all calls prints those that a filter kills for, with their own number.
func TestForbiddenWhenAttached(t *testing.T) {
	for _, call := range []string{
		fmt.Sprintf(`socket(AF_VSOCK, SOCK_STREAM, 0) = %d`, unix.SYS_SOCKET),
		fmt.Sprintf(`clone(child_stack=NULL, flags=CLONE_UNTRACED|SIGCHLD) = %d`, unix.SYS_CLONE),
		fmt.Sprintf(`seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, {len=4, filter=0x7ffd}) = %d`, unix.SYS_SECCOMP),
	} {
		got := decodeAttached(`5 2.000000 `+call+` <0.000001>`, `5 2.000001 +++ killed by SIGSYS (core dumped) +++`)
		if want := []string{`5 evade SIGSYS error=? main at=0/0`}; !cmp.Equal(want, got) {
			t.Errorf("%s: events %q, want %q", call, got, want)
		}
		if got := decodeAttached(`5 2.000000 ` + call + ` <0.000001>`); len(got) != 1 {
			t.Errorf("%s, which was made: events %q", call, got)
		}
	}
}

func TestUnparsed(t *testing.T) {
	for _, line := range []string{
		``, `5`, `x 2.000000 open("/a", O_RDONLY) = 3`, `5 2.0 open("/a", O_RDONLY) = 3`, `5 2.000000 `,
		`5 2.000000 open`, `5 2.000000 open("/a`, `5 2.000000 open("/a\", O_RDONLY) = 3`,
		`5 2.000000 open("/a", O_RDONLY) = 3</a`, `5 2.000000 open("/a", O_RDONLY)`, `5 2.000000 open("/a", O_RDONLY) = `,
		`5 2.000000 openat(AT_FDCWD</a, "/a", O_RDONLY) = 3`, `5 2.000000 <... open resumed>) = 3`, `5 2.000000 <... open`,
		`5 2.000000 kill(3 <x>, 3) = 0`, `5 2.000000 +++ superseded by execve in pid ? +++`, `strace: out of memory`,
	} {
		got, stats := decodeLines(t, line)
		if stats.Unparsed != 1 || len(got) != 0 {
			t.Errorf("%q: %d unparsed, events %v; want 1 and none", line, stats.Unparsed, got)
		}
	}
}

// Detail stays within its bound and keeps the name and the result of the call.
func TestDetail(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for name, tc := range map[string]struct{ line, prefix, suffix string }{
		"short": {`openat(AT_FDCWD</>, "/a", O_RDONLY) = 3</a> <0.000001>`, `openat(AT_FDCWD</>, "/a", O_RDONLY) = 3</a>`, ``},
		"long":  {`openat(AT_FDCWD</>, "/` + long + `", O_RDONLY) = -1 ENAMETOOLONG (File name too long) <0.000001>`, `openat(AT_FDCWD</>, "/xxx`, `xxx ... ) = -1 ENAMETOOLONG (File name too long)`},
		"both":  {`openat(AT_FDCWD</>, "/` + long + `", O_RDONLY) = 3</` + long + `> <0.000001>`, `openat(AT_FDCWD</>, "/xxx`, `xxx`},
	} {
		events, _ := decode(Config{}, []byte(begin+"\n5 2.000000 "+tc.line+"\n"))
		got := events[1].Detail
		if len(got) > maxDetail || !strings.HasPrefix(got, tc.prefix) || !strings.HasSuffix(got, tc.suffix) {
			t.Errorf("%s: detail of %d bytes: %s", name, len(got), got)
		}
	}
}

// TestAstray: a directory entered by such a link has no known name.
func TestAstray(t *testing.T) {
	_, stats := decodeLines(t, `5 2.000000 chdir("/proc/77/cwd") = 0 <0.000001>`, `5 2.000000 rename("x", "/tmp/x") = 0 <0.000001>`)
	if stats.Unplaced != 1 {
		t.Errorf("Unplaced = %d", stats.Unplaced)
	}
}

// TestUnplaced: a change by a name relative to an unknown directory is counted.
func TestUnplaced(t *testing.T) {
	for line, want := range map[string]int{
		`5 2.000000 unlink("x") = 0 <0.000001>`:                                          1,
		`5 2.000000 rename("/tmp/x", "y") = 0 <0.000001>`:                                1,
		`5 2.000000 unlink("x") = -1 ENOENT (No such file or directory) <0.000001>`:      0,
		`5 2.000000 unlinkat(AT_FDCWD</w>, "x", 0) = 0 <0.000001>`:                       0,
		`5 2.000000 unlink("` + strings.Repeat("/d", 300) + `") = 0 <0.000001>`:          1,
		`5 2.000000 symlink("x", "/tmp/y") = 0 <0.000001>`:                               0,
		`5 2.000000 openat(AT_FDCWD</w>, "x", O_RDONLY) = 3</w/x> <0.000001>`:            0,
		`5 2.000000 utimensat(3</w/f>, NULL, NULL, 0) = 0 <0.000001>`:                    0,
		`5 2.000000 linkat(AT_FDCWD</w>, "x", AT_FDCWD</w>, "/tmp/y", 0) = 0 <0.000001>`: 0,
		// A link of /proc to an unknown place.
		`5 2.000000 rename("/proc/77/cwd/x", "/tmp/x") = 0 <0.000001>`:                                        1,
		`5 2.000000 rename("/proc/77/root/x", "/tmp/x") = 0 <0.000001>`:                                       1,
		`5 2.000000 rename("/tmp/x", "/proc/self/fd/99/x") = 0 <0.000001>`:                                    1,
		`5 2.000000 linkat(AT_FDCWD</w>, "/dev/fd/99", AT_FDCWD</w>, "/x", AT_SYMLINK_FOLLOW) = 0 <0.000001>`: 1,
		`5 2.000000 rename("/proc/self/task/5/root/x", "/tmp/x") = 0 <0.000001>`:                              0,
		`5 2.000000 execve("/proc/77/exe", ["x"], 0x1 /* 2 vars */) = 0 <0.000001>`:                           0,
	} {
		if _, stats := decodeLines(t, `5 2.000000 symlink("/a", "/b") = 0 <0.000001>`, line); stats.Unplaced != want {
			t.Errorf("%s: Unplaced = %d, want %d", line, stats.Unplaced, want)
		}
	}
}
