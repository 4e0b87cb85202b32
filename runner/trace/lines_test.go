package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// begin is the first line of every trace here: the server's own execve.
const begin = `5 1.000000 execve("/srv", ["/srv"], 0x1 /* 0 vars */) = 0 <0.000001>`

const (
	inode  = 40 // of stdin
	output = 41 // of stdout
)

// decodeLines decodes a server's trace and renders what follows its start.
func decodeLines(t *testing.T, lines ...string) ([]string, Stats) {
	t.Helper()
	events, stats := decode(Config{Stdin: inode, Stdout: output}, []byte(begin+"\n"+strings.Join(lines, "\n")+"\n"))
	var got []string
	for _, e := range events[1:] {
		got = append(got, render(e))
	}
	return got, stats
}

// TestCalls decodes single lines.
func TestCalls(t *testing.T) {
	for name, tc := range map[string]struct {
		line string
		want string // "" for no event
	}{
		"result beats argument": {
			`openat(AT_FDCWD</w>, "/tmp/link", O_RDONLY) = 3</etc/shadow> <0.000001>`,
			`5 read openat main path="/etc/shadow" flags=O_RDONLY at=0/0`},
		"failure is joined with dirfd": {
			`openat(7</home/u/.ssh>, "../x/./id", O_RDONLY) = -1 EACCES (Permission denied) <0.000001>`,
			`5 read openat error=EACCES main path="/home/u/x/id" flags=O_RDONLY at=0/0`},
		"truncated name": {
			`openat(AT_FDCWD</w>, "abc"..., O_RDONLY) = -1 ENAMETOOLONG (File name too long) <0.000001>`,
			`5 read openat error=ENAMETOOLONG main path="/w/abc" flags=O_RDONLY at=0/0`},
		"deleted file": {
			`openat(AT_FDCWD</w>, "x", O_RDWR|O_TMPFILE, 0600) = 3</w/#1\74\76>(deleted) <0.000001>`,
			`5 write openat main path="/w/#1<>" flags=O_RDWR|O_TMPFILE at=0/0`},
		"device": {
			`openat(AT_FDCWD</w>, "/dev/sda", O_RDONLY) = 3</dev/sda<block 8:0>> <0.000001>`,
			`5 read openat main path="/dev/sda" flags=O_RDONLY at=0/0`},
		"name only": {
			`openat(AT_FDCWD</w>, "/root/x", O_RDONLY|O_PATH) = 3</root/x> <0.000001>`,
			`5 read openat main path="/root/x" flags=O_RDONLY|O_PATH at=0/0`},
		"exchange": {
			`renameat2(AT_FDCWD</w>, "a", AT_FDCWD</w>, "b", RENAME_EXCHANGE) = 0 <0.000001>`,
			`5 rename renameat2 main path="/w/a" target="/w/b" at=0/0
5 rename renameat2 main path="/w/b" target="/w/a" at=0/0`},
		"by handle": {
			`open_by_handle_at(3</>, {handle_bytes=8, handle_type=1, f_handle=0x1}, O_RDONLY) = 4</root/x> <0.000001>`,
			`5 read open_by_handle_at main path="/root/x" flags=O_RDONLY at=0/0`},
		"openat2": {
			`openat2(AT_FDCWD</w>, "f", {flags=O_WRONLY|O_CREAT, mode=0600, resolve=RESOLVE_BENEATH}, 24) = 3</w/f> <0.000001>`,
			`5 write openat2 main path="/w/f" flags=O_WRONLY|O_CREAT at=0/0`},
		"descriptor itself": {
			`utimensat(3</w/f>, NULL, NULL, 0) = 0 <0.000001>`,
			`5 attribute utimensat main path="/w/f" at=0/0`},
		"pipe's mode": {`fchmod(3<pipe:[9]>, 0600) = 0 <0.000001>`, ``},
		"blinded": {
			`unlink(0x7ffe0000) = 0 <0.000001>`,
			`5 evade unlink blinded main at=0/0
5 delete unlink main at=0/0`},
		"blinded program": {`execve(0x7ffe0000, 0x7ffe1111, 0x7ffe2222) = 0 <0.000001>`, `5 evade execve blinded main at=0/0`},
		"bad pointer":     {`unlink(0x1) = -1 EFAULT (Bad address) <0.000001>`, `5 delete unlink error=EFAULT main at=0/0`},
		"dead process":    {`unlink(0x7ffe0000) = ?`, `5 delete unlink error=? main at=0/0`},
		"long arguments": {
			`execve("/bin/x", ["x", "a"..., "b", ...], 0x1 /* 2 vars */) = -1 E2BIG (Argument list too long) <0.000001>`,
			`5 exec execve error=E2BIG main path="/bin/x" argv=["x" "a" "b"] cut of 0 at=0/0`},
		"shift is no decoration": {`capset({version=_LINUX_CAPABILITY_VERSION_3, pid=0}, {effective=1<<CAP_CHOWN|1<<CAP_KILL, permitted=0}) = 0 <0.000001>`, `5 credential capset main at=0/0`},
		"comment":                {`kill(2 /* 5 in strace's PID NS */, SIGTERM) = 0 <0.000001>`, ``},
		"foreign process":        {`kill(77, SIGTERM) = -1 EPERM (Operation not permitted) <0.000001>`, `5 evade kill error=EPERM main at=0/0`},
		"everyone":               {`kill(-1, SIGTERM) = 0 <0.000001>`, `5 evade kill main at=0/0`},
		"own group":              {`kill(-5, SIGTERM) = 0 <0.000001>`, ``},
		"parent watch":           {`kill(77, 0) = 0 <0.000001>`, ``},
		"by descriptor":          {`pidfd_send_signal(3<pid:77>, SIGKILL, NULL, 0) = 0 <0.000001>`, `5 evade pidfd_send_signal main at=0/0`},
		"killed at the entry":    {`pidfd_send_signal(16, SIGKILL, NULL, 0) = ?`, ``},
		"no descriptor":          {`pidfd_send_signal(16, SIGKILL, NULL, 0) = -1 EBADF (Bad file descriptor) <0.000001>`, ``},
		"nameless descriptor":    {`pidfd_send_signal(16, SIGKILL, NULL, 0) = 0 <0.000001>`, `5 evade pidfd_send_signal main at=0/0`},
		"own descriptor":         {`pidfd_send_signal(3<pid:5>, SIGKILL, NULL, 0) = 0 <0.000001>`, ``},
		"thread":                 {`clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0} => {parent_tid=[6]}, 88) = 6 <0.000001>`, ``},
		"filter with a listener": {`seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, {len=5, filter=0x7f}) = 5<anon_inode:seccomp notify> <0.000001>`, `5 evade seccomp main at=0/0`},
		"dispatch":               {`prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, 0x7f00) = 0 <0.000001>`, `5 evade prctl main at=0/0`},
		"dispatch of a range":    {`prctl(PR_SET_SYSCALL_USER_DISPATCH, 0x2 /* PR_SYS_DISPATCH_??? */, 0x400000, 0x800000, 0x7f00) = 0 <0.000001>`, `5 evade prctl main at=0/0`},
		"no dispatch":            {`prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, NULL) = 0 <0.000001>`, ``},
		"filter":                 {`seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, {len=5, filter=0x7f}) = 0 <0.000001>`, ``},
		"namespace of pid 56":    {`clone(child_stack=NULL, flags=CLONE_NEWUSER|SIGCHLD) = 56 /* 4711 in strace's PID NS */ <0.000001>`, `5 evade clone main at=0/0`},
		"namespace":              {`clone3({flags=CLONE_NEWUSER, exit_signal=0}, 88) = 6 <0.000001>`, `5 evade clone3 main at=0/0`},
		"restarted":              {`connect(3<TCP:[9]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16) = ? ERESTARTSYS (To be restarted if SA_RESTART is set) <1.000001>`, `5 connect connect error=ERESTARTSYS main inet/tcp remote=192.0.2.1:80 at=0/0`},
		"address probing":        {`connect(3<UDP:[9]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16) = 0 <0.000001>`, ``},
		"no name server": {
			`connect(3<UDP:[9]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("192.0.2.1")}, 16) = -1 ENETUNREACH (Network is unreachable) <0.000001>`,
			`5 connect connect error=ENETUNREACH main inet/udp remote=192.0.2.1:53 at=0/0`},
		"blinded connect": {`connect(3<TCP:[9]>, 0x7ffe0000, 16) = 0 <0.000001>`, `5 evade connect blinded main at=0/0`},
		"blinded send":    {`sendto(3<TCP:[192.0.2.7:1->192.0.2.1:80]>, 0x7ffe0000, 9, 0, NULL, 0) = 9 <0.000001>`, "5 evade sendto blinded main at=0/0\n5 connect sendto main inet/tcp local=192.0.2.7:1 remote=192.0.2.1:80 at=0/0\n5 send sendto main inet/tcp local=192.0.2.7:1 remote=192.0.2.1:80 at=0/0"},
		"blinded write":   {`writev(4, 0x7ffe0000, 2) = 9 <0.000001>`, `5 evade writev blinded main at=0/0`},
		"blinded read":    {`read(4, 0x7ffe0000, 9) = 9 <0.000001>`, `5 evade read blinded main at=0/0`},
		"nothing to read": {`read(4, 0x7ffe0000, 9) = -1 EBADF (Bad file descriptor) <0.000001>`, ``},
		"device memory":   {`read(4</dev/mem>, 0x7ffe0000, 9) = 9 <0.000001>`, ``},
		"would block":     {`write(3<TCP:[192.0.2.7:1->192.0.2.1:80]>, "x", 1) = -1 EAGAIN (Resource temporarily unavailable) <0.000001>`, ``},
		"name server over tcp": {
			`write(3<TCP:[192.0.2.7:1->192.0.2.1:53]>, "\0\35\0224\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1", 31) = 31 <0.000001>`,
			`5 connect write main inet/tcp local=192.0.2.7:1 remote=192.0.2.1:53 host=example.com at=0/0
5 send write main inet/tcp local=192.0.2.7:1 remote=192.0.2.1:53 host=example.com data[31]="\x00\x1d\x124\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\aexample\x03com\x00\x00\x01\x00\x01" at=0/0`},
		"terminal escapes in a name": {
			`sendto(3<UDP:[192.0.2.7:1->192.0.2.1:53]>, "\0224\1\0\0\1\0\0\0\0\0\0\5\33[31m\0\0\1\0\1", 23, 0, NULL, 0) = -1 EPERM (Operation not permitted) <0.000001>`,
			`5 connect sendto error=EPERM main inet/udp local=192.0.2.7:1 remote=192.0.2.1:53 host=?[31m at=0/0
5 send sendto error=EPERM main inet/udp local=192.0.2.7:1 remote=192.0.2.1:53 host=?[31m data[23]="\x124\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x05\x1b[31m\x00\x00\x01\x00\x01" at=0/0`},
		"bytes to a file": {
			`pwrite64(4</w/f>, "abc", 3, 0) = 2 <0.000001>`,
			`5 store pwrite64 main path="/w/f" data[2]="ab" at=0/0`},
		"bytes to a device":          {`write(4</dev/null<char 1:3>>, "abc", 3) = 3 <0.000001>`, ``},
		"bytes that found no room":   {`write(4</w/f>, "abc", 3) = -1 ENOSPC (No space left on device) <0.000001>`, ``},
		"unreadable bytes to a file": {`write(4</w/f>, 0x7ffe0000, 3) = 3 <0.000001>`, "5 evade write blinded main at=0/0\n5 store write main path=\"/w/f\" at=0/0"},
		"from file to file": {
			`copy_file_range(3</root/.ssh/id_rsa>, NULL, 4</tmp/x>, NULL, 100, 0) = 100 <0.000001>`,
			`5 store copy_file_range main path="/tmp/x" cut of 100 from="/root/.ssh/id_rsa" at=0/0`},
		"from file to socket": {
			`sendfile(4<TCP:[192.0.2.7:1->192.0.2.1:80]>, 3</root/.ssh/id_rsa>, NULL, 100) = 100 <0.000001>`,
			`5 connect sendfile main inet/tcp local=192.0.2.7:1 remote=192.0.2.1:80 at=0/0
5 send sendfile main inet/tcp local=192.0.2.7:1 remote=192.0.2.1:80 cut of 100 from="/root/.ssh/id_rsa" at=0/0`},
		"accept": {
			`accept4(3<TCP:[127.0.0.1:80]>, {sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("127.0.0.1")}, [16], SOCK_CLOEXEC) = 4<TCP:[127.0.0.1:80->127.0.0.1:9]> <0.000001>`,
			`5 accept accept4 main inet/tcp local=127.0.0.1:80 remote=127.0.0.1:9 at=0/0`},
		"fast open": {
			`sendto(3<TCP:[9]>, "x", 1, MSG_FASTOPEN, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16) = 1 <0.000001>`,
			`5 connect sendto main inet/tcp remote=192.0.2.1:80 at=0/0
5 send sendto main inet/tcp remote=192.0.2.1:80 data[1]="x" at=0/0`},
		"unknown end": {`sendto(3<UDP:[9]>, "x", 1, 0, NULL, 0) = 1 <0.000001>`, "5 connect sendto main inet/udp at=0/0\n5 send sendto main inet/udp data[1]=\"x\" at=0/0"},
	} {
		t.Run(name, func(t *testing.T) {
			got, stats := decodeLines(t, "5 2.000000 "+tc.line)
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if stats.Unparsed != 0 {
				t.Errorf("not parsed: %s", stats.Sample)
			}
		})
	}
}

// TestLineage: the server's tree begins after the shim.
func TestLineage(t *testing.T) {
	lines := `
7 1.000000 openat(AT_FDCWD</>, "/shim/config", O_RDONLY) = 3</shim/config> <0.000001>
7 1.000001 execve("/shim/bin", ["shim"], 0x1 /* 0 vars */) = 0 <0.000001>
7 1.000002 clone(child_stack=NULL, flags=CLONE_VM|CLONE_VFORK|SIGCHLD <unfinished ...>
8 1.000003 openat(AT_FDCWD</>, "/shim/child", O_RDONLY) = 3</shim/child> <0.000001>
8 1.000004 execve("/usr/local/bin/srv", ["srv"], 0x1 /* 0 vars */) = -1 ENOENT (No such file or directory) <0.000001>
8 1.000005 execve("/usr/bin/srv", ["srv"], 0x1 /* 0 vars */) = 0 <0.000001>
8 1.000006 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
9 1.000007 openat(AT_FDCWD</>, "/a/grandchild", O_RDONLY) = 3</a/grandchild> <0.000001>
8 1.000008 <... clone resumed>) = 9 <0.000001>
7 1.000009 <... clone resumed>) = 8 <0.000001>
8 1.000010 openat(AT_FDCWD</>, "/a/server", O_RDONLY) = 3</a/server> <0.000001>
7 1.000011 openat(AT_FDCWD</>, "/shim/wait", O_RDONLY) = 3</shim/wait> <0.000001>
7 1.000012 clone(child_stack=NULL, flags=CLONE_THREAD <unfinished ...>
10 1.000013 openat(AT_FDCWD</>, "/shim/thread", O_RDONLY) = 3</shim/thread> <0.000001>
7 1.000014 <... clone resumed>) = 10 <0.000001>
9 1.000015 +++ exited with 0 +++
8 1.000016 execve("/shim/bin", ["shim"], 0x1 /* 0 vars */) = 0 <0.000001>
8 1.000017 +++ exited with 0 +++
7 1.000018 +++ exited with 0 +++
`
	events, stats := decode(Config{Shim: "/shim/bin"}, []byte(strings.TrimLeft(lines, "\n")))
	var got []string
	for _, e := range events {
		got = append(got, render(e))
	}
	want := []string{
		`8 exec execve main path="/usr/bin/srv" argv=["srv"] at=0/0`,
		`9 read openat path="/a/grandchild" flags=O_RDONLY origin=0/0 at=0/0`,
		`8 read openat main path="/a/server" flags=O_RDONLY at=0/0`,
		`8 exec execve main path="/shim/bin" argv=["shim"] at=0/0`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if stats.Alive != 0 || stats.Unparsed != 0 || !stats.Begun {
		t.Errorf("stats = %+v, want nobody alive and everything parsed", stats)
	}
}

// TestAlive: a tracer that ends first leaves processes without an end.
func TestAlive(t *testing.T) {
	_, stats := decodeLines(t, `5 2.000000 clone(child_stack=NULL, flags=SIGCHLD) = 6 <0.000001>`, `5 2.000001 +++ exited with 0 +++`)
	if stats.Alive != 1 {
		t.Errorf("Alive = %d, want 1", stats.Alive)
	}
}

// TestQuickThreads has lines of strace 6.1: an ended thread's number is not
// translated, and 6 belongs to another in the server's own namespace.
func TestQuickThreads(t *testing.T) {
	got, stats := decodeLines(t,
		`5 2.000000 clone(child_stack=0x1, flags=CLONE_THREAD, parent_tid=[2 /* 6 in strace's PID NS */]) = 2 /* 6 in strace's PID NS */ <0.000001>`,
		`6 2.000001 +++ exited with 0 +++`,
		`5 2.000002 clone(child_stack=0x1, flags=CLONE_THREAD <unfinished ...>`,
		`10 2.000003 open("/a", O_RDONLY) = 3</a> <0.000001>`,
		`10 2.000004 +++ exited with 0 +++`,
		`5 2.000005 <... clone resumed>, parent_tid=[0]) = 6 <0.000001>`,
		`5 2.000006 +++ exited with 0 +++`,
	)
	if want := []string{`10 read open main path="/a" flags=O_RDONLY at=0/0`}; !cmp.Equal(want, got) || stats.Alive != 0 {
		t.Errorf("%d alive; events %q, want %q", stats.Alive, got, want)
	}
}

// decodeAttached decodes what strace prints when it stops at all calls.
func decodeAttached(lines ...string) (got []string) {
	events, _ := decode(Config{Stdin: inode, Stdout: output, Attached: true}, []byte(begin+"\n"+strings.Join(lines, "\n")+"\n"))
	for _, e := range events[1:] {
		got = append(got, render(e))
	}
	return got
}

// trapped returns the line of a SIGSYS that a filter sends for a call.
func trapped(name string) string {
	return `5 2.000000 --- SIGSYS {si_signo=SIGSYS, si_code=SYS_SECCOMP, si_call_addr=0x7f, si_syscall=__NR_` + name + `, si_arch=AUDIT_ARCH_X86_64} ---`
}

// TestTrapped: a call that the server's own filter traps is not made: its handler
// makes another.
func TestTrapped(t *testing.T) {
	got := decodeAttached(
		fmt.Sprintf(`5 2.000000 openat(AT_FDCWD</>, "/root/.ssh/id_rsa", O_RDONLY) = %d <0.000001>`, unix.SYS_OPENAT),
		trapped("openat"),
		fmt.Sprintf(`5 2.000001 openat(AT_FDCWD</>, "/a", O_RDONLY) = %d</a> <0.000001>`, unix.SYS_OPENAT),
	)
	if want := []string{`5 read openat main path="/a" flags=O_RDONLY at=0/0`}; !cmp.Equal(want, got) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// TestW1ResultOfItsOwnNumber: what looks like a call that a filter stopped was made, unless a SIGSYS for this very call
// follows: another thread has closed the descriptor before the tracer asked for its file.
func TestW1ResultOfItsOwnNumber(t *testing.T) {
	call := fmt.Sprintf(`5 2.000000 openat(AT_FDCWD</>, "/root/.ssh/id_rsa", O_RDONLY) = %d <0.000001>`, unix.SYS_OPENAT)
	want := `5 read openat error=? main path="/root/.ssh/id_rsa" flags=O_RDONLY at=0/0`
	for name, next := range map[string]string{
		"a call":                    `5 2.000001 close(3) = 0 <0.000001>`,
		"the end":                   `5 2.000001 +++ exited with 0 +++`,
		"the end of the trace":      `6 2.000001 close(3) = 0 <0.000001>`,
		"SIGSYS of the server":      `5 2.000001 --- SIGSYS {si_signo=SIGSYS, si_code=SI_TKILL, si_pid=5, si_uid=0} ---`,
		"SIGSYS without a code":     `5 2.000001 --- SIGSYS {si_signo=SIGSYS} ---`,
		"SIGSYS for an unseen call": trapped("getppid"),
		"death for an unseen call":  `5 2.000001 +++ killed by SIGSYS +++`,
	} {
		if got := decodeAttached(call, next); len(got) == 0 || got[0] != want {
			t.Errorf("%s: events %q, want %q", name, got, want)
		}
	}
	length := fmt.Sprintf(`5 2.000000 readlinkat(AT_FDCWD</>, "/root/.ssh/id_rsa", ""..., 4096) = %d <0.000001>`, unix.SYS_READLINKAT)
	if got := decodeAttached(length); len(got) != 1 {
		t.Errorf("a link whose target is as long as the call's number: events %q", got)
	}
	// The kernel lets a process send itself any SIGSYS.
	for _, sent := range []string{
		`6 2.000000 rt_tgsigqueueinfo(5, 5, SIGSYS, {si_signo=SIGSYS, si_code=SYS_SECCOMP, si_call_addr=NULL, si_syscall=__NR_openat, si_arch=AUDIT_ARCH_X86_64} <unfinished ...>`,
		`6 2.000000 pidfd_send_signal(3<pid:5>, SIGSYS, {si_signo=SIGSYS, si_code=SYS_SECCOMP}, 0) = 0 <0.000001>`,
	} {
		if got := decodeAttached(sent, call, trapped("openat")); !slices.Contains(got, want) {
			t.Errorf("after %s: events %q", sent, got)
		}
	}
	// Filters outrank --seccomp-bpf: what a filter stops is not in the trace.
	got, _ := decodeLines(t, call, trapped("openat"))
	if want := []string{`5 read openat main path="/root/.ssh/id_rsa" flags=O_RDONLY at=0/0`}; !cmp.Equal(want, got) {
		t.Errorf("not attached: events %q, want %q", got, want)
	}
	// The pid of a child can be the number of clone: then it may not have been made.
	got, _ = decodeLines(t, fmt.Sprintf(`5 2.000000 clone(child_stack=NULL, flags=CLONE_NEWUSER|SIGCHLD) = %d <0.000001>`, unix.SYS_CLONE))
	if want := []string{`5 evade clone error=? main at=0/0`}; !cmp.Equal(want, got) {
		t.Errorf("clone: events %q, want %q", got, want)
	}
}

// TestW2DirectoryOfAKilledCall: a process that shares the working directory has changed it, perhaps.
func TestW2DirectoryOfAKilledCall(t *testing.T) {
	_, stats := decodeLines(t,
		`5 2.000000 clone(child_stack=0x1, flags=CLONE_FS|SIGCHLD) = 6 <0.000001>`,
		`5 2.000001 chdir("/work") = 0 <0.000001>`,
		`6 2.000002 chdir("/root") = ?`,
		`6 2.000003 +++ killed by SIGKILL +++`,
		`5 2.000004 rename("a", ".bashrc") = 0 <0.000001>`,
	)
	if stats.Unplaced != 1 {
		t.Errorf("%d changes by a name that is not known, want 1", stats.Unplaced)
	}
	// A link may have been made by a call that never returned, and stays if its removal never returned.
	got, _ := decodeLines(t,
		`5 2.000000 symlink("/root/.config", "/work/l") = ?`,
		`5 2.000001 unlink("/work/l") = ?`,
		`5 2.000002 rename("/work/l", "/work/m") = ?`,
		`5 2.000003 mkdir("/work/m/autostart", 0700) = 0 <0.000001>`,
	)
	if want := `5 write mkdir main path="/root/.config/autostart" at=0/0`; len(got) != 4 || got[3] != want {
		t.Errorf("events %q, want the last to be %q", got, want)
	}
}

// TestW3NamesThatWereAskedFor: a name that matters counts, also where the descriptor of the result shows another file, and
// where such results have taught that a link leads elsewhere.
func TestW3NamesThatWereAskedFor(t *testing.T) {
	got, _ := decodeLines(t,
		`5 2.000000 openat(AT_FDCWD</w>, "/home/u/.bashrc", O_WRONLY|O_APPEND) = 5</tmp/a> <0.000001>`,
		`5 2.000001 openat(AT_FDCWD</w>, "/home/u/.ssh/id_rsa", O_RDONLY) = 5</tmp/a> <0.000001>`,
		`5 2.000002 openat(AT_FDCWD</w>, "/home/u/.config/autostart/a", O_RDONLY) = 5</tmp/a> <0.000001>`,
		`5 2.000003 rename("/tmp/b", "/home/u/.config/autostart/b") = 0 <0.000001>`,
		`5 2.000004 openat(AT_FDCWD</w>, "/usr/lib/libc.so", O_RDONLY) = 5</lib/libc.so.6> <0.000001>`,
	)
	want := []string{
		`5 write openat main path="/tmp/a" flags=O_WRONLY|O_APPEND at=0/0`,
		`5 write openat main path="/home/u/.bashrc" flags=O_WRONLY|O_APPEND at=0/0`,
		`5 read openat main path="/tmp/a" flags=O_RDONLY at=0/0`,
		`5 read openat main path="/home/u/.ssh/id_rsa" flags=O_RDONLY at=0/0`,
		`5 read openat main path="/tmp/a" flags=O_RDONLY at=0/0`,
		`5 rename rename main path="/tmp/b" target="/tmp/b" at=0/0`,
		`5 rename rename main path="/tmp/b" target="/home/u/.config/autostart/b" at=0/0`,
		`5 read openat main path="/lib/libc.so.6" flags=O_RDONLY at=0/0`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
