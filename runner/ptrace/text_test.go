package ptrace

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestEscape(t *testing.T) {
	for _, tc := range []struct{ in, quoted, decoration string }{
		{"/etc/passwd", `"/etc/passwd"`, `/etc/passwd`},
		{`a"b\c`, `"a\"b\\c"`, `a\"b\\c`},
		{"\t\n\v\f\r", `"\t\n\v\f\r"`, `\t\n\v\f\r`},
		{"a<b>1", `"a<b>1"`, `a\074b\0761`},
		{"\x00", `"\0"`, `\0`},
		{"\x001", `"\0001"`, `\0001`},
		{"\x1b[0m", `"\33[0m"`, `\33[0m`},
		{"\x1b7", `"\0337"`, `\0337`},
		{"é", `"\303\251"`, `\303\251`},
		{"\x7f", `"\177"`, `\177`},
	} {
		if got := string(appendQuoted(nil, []byte(tc.in), false)); got != tc.quoted {
			t.Errorf("%q: %s, want %s", tc.in, got, tc.quoted)
		}
		if got := string(appendEscaped(nil, []byte(tc.in), true)); got != tc.decoration {
			t.Errorf("%q in a decoration: %s, want %s", tc.in, got, tc.decoration)
		}
	}
}

// TestNothingEscapes: no byte that a server chooses can end a string or a line.
func TestNothingEscapes(t *testing.T) {
	for c := range 256 {
		text := appendEscaped(nil, []byte{byte(c), '0', byte(c)}, true)
		for i, b := range text {
			if b < ' ' || b > '~' || b == '<' || b == '>' || b == '"' && text[i-1] != '\\' {
				t.Errorf("byte %#x is printed as %q", c, text)
			}
		}
	}
}

func TestFlags(t *testing.T) {
	for _, tc := range []struct {
		got  []byte
		want string
	}{
		{appendOpen(nil, unix.O_RDONLY), "O_RDONLY"},
		{appendOpen(nil, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_CLOEXEC), "O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC"},
		{appendOpen(nil, unix.O_RDWR|unix.O_TMPFILE), "O_RDWR|O_TMPFILE"},
		{appendOpen(nil, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC), "O_RDONLY|O_CLOEXEC|O_DIRECTORY"},
		{appendOpen(nil, unix.O_RDONLY|1<<30), "O_RDONLY|0x40000000"},
		{appendClone(nil, uint64(unix.SIGCHLD), 0), "child_stack=NULL, flags=SIGCHLD"},
		{appendClone(nil, unix.CLONE_VM|unix.CLONE_FS|uint64(unix.SIGCHLD), 16), "child_stack=0x10, flags=CLONE_VM|CLONE_FS|SIGCHLD"},
		{appendClone(nil, unix.CLONE_THREAD, 0), "child_stack=NULL, flags=CLONE_THREAD"},
		{appendBits(nil, unix.CLONE_NEWTIME|unix.CLONE_NEWNS, namespaceBits, true), "CLONE_NEWTIME|CLONE_NEWNS"},
		{appendBits(nil, 0, atBits, true), "0"},
		{appendBits(nil, unix.MSG_PEEK|unix.MSG_DONTWAIT, messageBits, true), "MSG_PEEK|MSG_DONTWAIT"},
		{(&printer{}).option(nil, &task{arguments: [6]uint64{1<<32 | unix.PR_SET_DUMPABLE}}), "SUID_DUMP_DISABLE"},
		{appendName(nil, 99, domains), "0x63"},
		{appendSignal(nil, 9), "SIGKILL"},
		{appendSignal(nil, 0), "0"},
		{appendPID(nil, 7), "7    "},
		{appendPID(nil, 1234567), "1234567"},
		{appendSeconds(nil, 1795278827_000123456), "1795278827.000123"},
	} {
		if string(tc.got) != tc.want {
			t.Errorf("%s, want %s", tc.got, tc.want)
		}
	}
}

func TestSockaddr(t *testing.T) {
	for raw, want := range map[string]string{
		"\x02\x00\x00\x50\x5d\xb8\xd8\x22\x00\x00\x00\x00\x00\x00\x00\x00":                       `{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("93.184.216.34")}`,
		"\x0a\x00\x00\x35\x00\x00\x00\x00" + strings.Repeat("\x00", 15) + "\x01\x00\x00\x00\x00": `{sa_family=AF_INET6, sin6_port=htons(53), inet_pton(AF_INET6, "::1", &sin6_addr)}`,
		"\x01\x00/run/s\x00junk": `{sa_family=AF_UNIX, sun_path="/run/s"}`,
		"\x01\x00\x00a\"b\x00":   `{sa_family=AF_UNIX, sun_path=@"a\"b\0"}`,
		"\x01\x00":               `{sa_family=AF_UNIX}`,
		"\x10\x00\x00\x00\x07\x00\x00\x00\x01\x00\x00\x00":                 `{sa_family=AF_NETLINK, nl_pid=7, nl_groups=0x1}`,
		"\x28\x00\x00\x00\x39\x05\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00": `{sa_family=AF_VSOCK, svm_cid=VMADDR_CID_HOST, svm_port=0x539}`,
		"\x00\x00":  `{sa_family=AF_UNSPEC}`,
		"\x02\x00":  `{sa_family=AF_INET}`,
		"\xff\xff}": `{sa_family=0xffff, sa_data="}"}`,
		"":          `{}`,
	} {
		if got := string(appendSockaddr(nil, []byte(raw))); got != want {
			t.Errorf("%q: %s, want %s", raw, got, want)
		}
	}
}
