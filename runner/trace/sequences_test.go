package trace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSequences decodes several lines together.
func TestSequences(t *testing.T) {
	for name, tc := range map[string]struct {
		lines []string
		want  []string
	}{
		"a child speaks before its parent returns": {
			[]string{
				`5 2.0 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>`,
				`6 2.1 open("/a", O_RDONLY) = 3</a> <0.000001>`,
				`5 2.2 <... clone resumed>, child_tidptr=0x1) = 6 <0.100000>`,
			}, []string{`6 read open path="/a" flags=O_RDONLY origin=0/0 at=0/0`}},
		"a thread is the main process": {
			[]string{
				`5 2.0 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FS|CLONE_THREAD) = 6 <0.000001>`,
				`6 2.1 open("/a", O_RDONLY) = 3</a> <0.000001>`,
			}, []string{`6 read open main path="/a" flags=O_RDONLY at=0/0`}},
		"a process in a namespace of its own reads about itself, whatever that number is outside": {
			[]string{
				`5 2.0 clone(child_stack=NULL, flags=SIGCHLD) = 5 /* 31 in strace's PID NS */ <0.000001>`,
				`31 2.1 openat(AT_FDCWD</>, "/proc/self/environ", O_RDONLY) = 3</proc/5/environ> <0.000001>`,
				`31 2.2 openat(AT_FDCWD</>, "/proc/31/environ", O_RDONLY) = 3</proc/31/environ> <0.000001>`,
				`31 2.3 openat(AT_FDCWD</>, "/proc/self/root/proc/7/environ", O_RDONLY) = 3</proc/7/environ> <0.000001>`,
				`5 2.4 openat(AT_FDCWD</>, "/proc/self/task/1/environ", O_RDONLY) = 3</proc/1/task/1/environ> <0.000001>`,
				`5 2.5 openat(AT_FDCWD</>, "/proc/self/root/proc/7/environ", O_RDONLY) = 3</proc/7/environ> <0.000001>`,
			}, []string{
				`31 read openat path="/proc/self/environ" flags=O_RDONLY origin=0/0 at=0/0`,
				`31 read openat path="/proc/31/environ" flags=O_RDONLY origin=0/0 at=0/0`,
				`31 read openat path="/proc/7/environ" flags=O_RDONLY origin=0/0 at=0/0`,
				`5 read openat main path="/proc/thread-self/environ" flags=O_RDONLY at=0/0`,
				`5 read openat main path="/proc/7/environ" flags=O_RDONLY at=0/0`,
			}},
		"a process is killed as it sends several messages": {
			[]string{
				`5 2.0 sendmmsg(3<UDP:[9]>, [{msg_hdr={msg_name={sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("192.0.2.1")}, msg_namelen=16, msg_iov=[], msg_iovlen=0, msg_controllen=0, msg_flags=0}}, {msg_hdr={msg_name={sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("192.0.2.2")}, msg_namelen=16, msg_iov=[], msg_iovlen=0, msg_controllen=0, msg_flags=0}}], 2, 0 <unfinished ...>`,
				`5 2.1 +++ killed by SIGKILL +++`,
			}, []string{
				`5 connect sendmmsg error=? main inet/udp remote=192.0.2.1:9 at=0/0`,
				`5 send sendmmsg error=? main inet/udp remote=192.0.2.1:9 at=0/0`,
				`5 connect sendmmsg error=? main inet/udp remote=192.0.2.2:9 at=0/0`,
				`5 send sendmmsg error=? main inet/udp remote=192.0.2.2:9 at=0/0`,
			}},
		"threads share the working directory": {
			[]string{
				`5 2.0 clone(child_stack=0x1, flags=CLONE_VM|CLONE_FS|CLONE_THREAD) = 6 <0.000001>`,
				`6 2.1 chdir("/home/u") = 0 <0.000001>`,
				`5 2.2 unlink("f") = 0 <0.000001>`,
			}, []string{`5 delete unlink main path="/home/u/f" at=0/0`}},
		"children inherit it": {
			[]string{
				`5 2.0 chdir("/home/u") = 0 <0.000001>`,
				`5 2.1 clone(child_stack=NULL, flags=SIGCHLD) = 6 <0.000001>`,
				`6 2.2 chdir("..") = 0 <0.000001>`,
				`6 2.3 unlink("f") = 0 <0.000001>`,
				`5 2.4 unlink("f") = 0 <0.000001>`,
			}, []string{`6 delete unlink path="/home/f" origin=0/0 at=0/0`, `5 delete unlink main path="/home/u/f" at=0/0`}},
		"a pid is used again": {
			[]string{
				`5 2.0 clone(child_stack=NULL, flags=CLONE_THREAD) = 6 <0.000001>`,
				`6 2.1 +++ exited with 0 +++`,
				`5 2.2 clone(child_stack=NULL, flags=SIGCHLD) = 6 <0.000001>`,
				`6 2.3 open("/a", O_RDONLY) = 3</a> <0.000001>`,
			}, []string{`6 read open path="/a" flags=O_RDONLY origin=0/0 at=0/0`}},
		"a process is killed in a call": {
			[]string{
				`5 2.0 connect(3<TCP:[9]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16 <unfinished ...>`,
				`5 2.1 +++ killed by SIGKILL +++`,
			}, []string{`5 connect connect error=? main inet/tcp remote=192.0.2.1:80 at=0/0`}},
		"the trace ends in a call": {
			[]string{`5 2.0 open("/a", O_RDONLY <unfinished ...>`},
			[]string{`5 read open error=? main path="/a" flags=O_RDONLY at=0/0`}},
		"the position is that of the entry": {
			[]string{
				`5 2.0 connect(3<TCP:[9]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16 <unfinished ...>`,
				`6 2.1 read(0<pipe:[40]>, "next"..., 4096) = 1000 <0.000001>`,
				`5 2.2 <... connect resumed>) = -1 ETIMEDOUT (Connection timed out) <9.000001>`,
				`5 2.3 open("/a", O_RDONLY) = 3</a> <0.000001>`,
			}, []string{
				`5 connect connect error=ETIMEDOUT main inet/tcp remote=192.0.2.1:80 at=0/0`,
				`5 read open main path="/a" flags=O_RDONLY at=1000/0`,
			}},
		"the conversation, by every call": {
			[]string{
				`5 2.00 read(0<pipe:[40]>, "", 0) = 0 <0.000001>`,
				`5 2.01 read(9<pipe:[40]>, "a", 1) = 1 <0.000001>`,
				`5 2.02 readv(0<pipe:[40]>, [{iov_base="b", iov_len=1}, {iov_base="c", iov_len=9}], 2) = 10 <0.000001>`,
				`5 2.03 splice(0<pipe:[40]>, NULL, 7<pipe:[99]>, NULL, 100, 0) = 100 <0.000001>`,
				`5 2.04 tee(0<pipe:[40]>, 1<pipe:[41]>, 1000, 0) = 1000 <0.000001>`,
				`5 2.05 write(1<pipe:[41]>, "x", 1) = 1 <0.000001>`,
				`5 2.06 sendfile(1<pipe:[41]>, 3</f>, NULL, 10) = 10 <0.000001>`,
				`5 2.07 vmsplice(1<pipe:[41]>, [{iov_base="x", iov_len=100}], 1, 0) = 100 <0.000001>`,
				`5 2.08 write(1<pipe:[41]>, "x", 1) = -1 EPIPE (Broken pipe) <0.000001>`,
				`5 2.09 write(2<pipe:[42]>, "x", 1) = 1 <0.000001>`,
				`5 2.10 open("/a", O_RDONLY) = 3</a> <0.000001>`,
				`5 2.11 read(0<pipe:[40]>, "", 4096) = 0 <0.000001>`,
				`5 2.12 open("/a", O_RDONLY) = 3</a> <0.000001>`,
			}, []string{
				`5 read open main path="/a" flags=O_RDONLY at=111/1111`,
				`5 read open main path="/a" flags=O_RDONLY at=111/1111/EOF`,
			}},
		"a datagram after a connect": {
			[]string{
				`5 2.0 connect(3<UDP:[9]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16) = 0 <0.000001>`,
				`5 2.1 write(3<UDP:[9]>, "x", 1) = 1 <0.000001>`,
				`5 2.2 connect(3<UDP:[9]>, {sa_family=AF_UNSPEC, sa_data="\0"}, 16) = 0 <0.000001>`,
				`5 2.3 sendto(3<UDP:[9]>, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(81), sin_addr=inet_addr("192.0.2.2")}, 16) = 1 <0.000001>`,
			}, []string{
				`5 connect write main inet/udp remote=192.0.2.1:80 at=0/0`,
				`5 send write main inet/udp remote=192.0.2.1:80 data[1]="x" at=0/0`,
				`5 connect sendto main inet/udp remote=192.0.2.2:81 at=0/0`,
				`5 send sendto main inet/udp remote=192.0.2.2:81 data[1]="x" at=0/0`,
			}},
		"both questions of sendmmsg": {
			[]string{
				`5 2.0 connect(3<UDP:[9]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("192.0.2.1")}, 16) = 0 <0.000001>`,
				`5 2.1 sendmmsg(3<UDP:[9]>, [{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="\0224\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", iov_len=19}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=19}, {msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="\0225\1\0\0\1\0\0\0\0\0\0\1b\0\0\1\0\1", iov_len=19}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=19}], 2, MSG_NOSIGNAL) = 2 <0.000001>`,
			}, []string{
				`5 connect sendmmsg main inet/udp remote=192.0.2.1:53 host=a at=0/0`,
				`5 send sendmmsg main inet/udp remote=192.0.2.1:53 host=a data[19]="\x124\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x00\x00\x01\x00\x01" at=0/0`,
				`5 connect sendmmsg main inet/udp remote=192.0.2.1:53 host=b at=0/0`,
				`5 send sendmmsg main inet/udp remote=192.0.2.1:53 host=b data[19]="\x125\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01b\x00\x00\x01\x00\x01" at=0/0`,
			}},
		"from file to socket by way of a pipe": {
			[]string{
				`5 2.0 splice(3</root/.ssh/id_rsa>, NULL, 5<pipe:[77]>, NULL, 100, 0) = 100 <0.000001>`,
				`5 2.1 splice(4<pipe:[77]>, NULL, 6<TCP:[192.0.2.7:1->192.0.2.1:80]>, NULL, 100, 0) = 100 <0.000001>`,
			}, []string{
				`5 connect splice main inet/tcp local=192.0.2.7:1 remote=192.0.2.1:80 at=0/0`,
				`5 send splice main inet/tcp local=192.0.2.7:1 remote=192.0.2.1:80 cut of 100 from="/root/.ssh/id_rsa" at=0/0`,
			}},
		"a hard link by way of a symbolic one": {
			[]string{
				`5 2.0 symlink("/home/u/.ssh", "/tmp/d") = 0 <0.000001>`,
				`5 2.1 symlink("d", "/tmp/e") = 0 <0.000001>`,
				`5 2.2 link("/tmp/e/../.ssh/id_rsa", "/tmp/x") = 0 <0.000001>`,
				`5 2.3 rename("/tmp/d", "/tmp/f") = 0 <0.000001>`,
				`5 2.4 link("/tmp/d/id_rsa", "/tmp/y") = -1 ENOENT (No such file or directory) <0.000001>`,
				`5 2.5 unlink("/tmp/f/id_rsa") = 0 <0.000001>`,
				`5 2.6 unlink("/tmp/f") = 0 <0.000001>`,
			}, []string{
				`5 link symlink main path="/tmp/d" target="/home/u/.ssh" at=0/0`,
				`5 link symlink main path="/tmp/e" target="/tmp/d" at=0/0`,
				`5 link link main path="/tmp/x" target="/home/u/.ssh/id_rsa" at=0/0`,
				`5 rename rename main path="/tmp/d" target="/tmp/f" at=0/0`,
				`5 link link error=ENOENT main path="/tmp/y" target="/tmp/d/id_rsa" at=0/0`,
				`5 delete unlink main path="/home/u/.ssh/id_rsa" at=0/0`,
				`5 delete unlink main path="/tmp/f" at=0/0`,
			}},
		"a directory that a link of the image leads to": {
			[]string{
				`5 2.0 openat(AT_FDCWD</w>, "/data/u/.profile", O_RDONLY) = 3</home/u/.profile> <0.000001>`,
				`5 2.1 link("/data/u/.ssh/id_rsa", "/tmp/x") = 0 <0.000001>`,
				`5 2.2 chdir("/data/u") = 0 <0.000001>`,
				`5 2.3 chmod(".ssh/id_rsa", 0644) = 0 <0.000001>`,
			}, []string{
				`5 read openat main path="/home/u/.profile" flags=O_RDONLY at=0/0`,
				`5 link link main path="/tmp/x" target="/home/u/.ssh/id_rsa" at=0/0`,
				`5 attribute chmod main path="/home/u/.ssh/id_rsa" at=0/0`,
			}},
		"by way of /proc": {
			[]string{
				`5 2.0 chdir("/home/u") = 0 <0.000001>`,
				`5 2.1 link("/proc/self/cwd/.ssh/id_rsa", "/tmp/x") = 0 <0.000001>`,
				`5 2.2 rename("/proc/5/root/home/u/.netrc", "/tmp/y") = 0 <0.000001>`,
				`5 2.3 openat(AT_FDCWD</home/u>, ".ssh/id_rsa", O_RDONLY|O_PATH) = 3</home/u/.ssh/id_rsa> <0.000001>`,
				`5 2.4 clone(child_stack=NULL, flags=SIGCHLD) = 6 <0.000001>`,
				`6 2.5 linkat(AT_FDCWD</home/u>, "/proc/self/fd/3", AT_FDCWD</home/u>, "/tmp/z", AT_SYMLINK_FOLLOW) = 0 <0.000001>`,
			}, []string{
				`5 link link main path="/tmp/x" target="/home/u/.ssh/id_rsa" at=0/0`,
				`5 rename rename main path="/home/u/.netrc" target="/tmp/y" at=0/0`,
				`5 read openat main path="/home/u/.ssh/id_rsa" flags=O_RDONLY|O_PATH at=0/0`,
				`6 link linkat path="/tmp/z" target="/home/u/.ssh/id_rsa" origin=0/0 at=0/0`,
			}},
		"a link far down": {
			[]string{
				`5 2.0 symlink("/home/u/.ssh", "` + strings.Repeat("/d", 60) + `/l") = 0 <0.000001>`,
				`5 2.1 link("` + strings.Repeat("/d", 60) + `/l/id_rsa", "/tmp/x") = 0 <0.000001>`,
			}, []string{
				`5 link symlink main path="` + strings.Repeat("/d", 60) + `/l" target="/home/u/.ssh" at=0/0`,
				`5 link link main path="/tmp/x" target="/home/u/.ssh/id_rsa" at=0/0`,
			}},
		"a program in memory, by way of a daemon": {
			[]string{
				`5 2.0 memfd_create("x", MFD_CLOEXEC) = 7</memfd:x>(deleted) <0.000001>`,
				`5 2.1 clone(child_stack=NULL, flags=SIGCHLD) = 6 <0.000001>`,
				`6 2.2 clone(child_stack=NULL, flags=SIGCHLD) = 8 <0.000001>`,
				`6 2.3 +++ exited with 0 +++`,
				`8 2.4 execve("/proc/self/fd/7", ["x"], NULL) = -1 EACCES (Permission denied) <0.000001>`,
				`8 2.5 execve("/dev/fd/40", ["x"], NULL) = 0 <0.000001>`,
			}, []string{
				`5 write memfd_create main path="/memfd:x" at=0/0`,
				`8 exec execve error=EACCES daemon path="/memfd:x" argv=["x"] origin=0/0 at=0/0`,
				`8 exec execve daemon path="/memfd:? /dev/fd/40" argv=["x"] origin=0/0 at=0/0`,
			}},
		"a loop of links": {
			[]string{
				`5 2.0 symlink("/tmp/b", "/tmp/a") = 0 <0.000001>`,
				`5 2.1 symlink("/tmp/a", "/tmp/b") = 0 <0.000001>`,
				`5 2.2 unlink("/tmp/a/x") = -1 ELOOP (Too many levels of symbolic links) <0.000001>`,
			}, []string{
				`5 link symlink main path="/tmp/a" target="/tmp/b" at=0/0`,
				`5 link symlink main path="/tmp/b" target="/tmp/a" at=0/0`,
				`5 delete unlink error=ELOOP main path="/tmp/a/x" at=0/0`,
			}},
		"an address that was another when the kernel read it": {
			[]string{
				`5 2.0 connect(3<TCP:[9]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000001>`,
				`5 2.1 recvfrom(3<TCP:[192.0.2.7:1->192.0.2.66:443]>, "x", 1, 0, NULL, NULL) = 1 <0.000001>`,
				`5 2.2 write(3<TCP:[192.0.2.7:1->192.0.2.66:443]>, "x", 1) = 1 <0.000001>`,
			}, []string{
				`5 connect connect main inet/tcp remote=127.0.0.1:80 at=0/0`,
				`5 connect recvfrom main inet/tcp local=192.0.2.7:1 remote=192.0.2.66:443 at=0/0`,
				`5 receive recvfrom main inet/tcp local=192.0.2.7:1 remote=192.0.2.66:443 data[1]="x" at=0/0`,
				`5 send write main inet/tcp local=192.0.2.7:1 remote=192.0.2.66:443 data[1]="x" at=0/0`,
			}},
		"an address that was another, and is known": {
			[]string{
				`5 2.0 connect(3<TCP:[8]>, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.66")}, 16) = 0 <0.000001>`,
				`5 2.1 connect(4<TCP:[9]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000001>`,
				`5 2.2 sendfile(4<TCP:[192.0.2.7:1->192.0.2.66:443]>, 7</f>, NULL, 9) = 9 <0.000001>`,
				`5 2.3 write(3<TCP:[192.0.2.7:2->192.0.2.66:443]>, "x", 1) = 1 <0.000001>`,
			}, []string{
				`5 connect connect main inet/tcp remote=192.0.2.66:443 at=0/0`,
				`5 connect connect main inet/tcp remote=127.0.0.1:80 at=0/0`,
				`5 connect sendfile main inet/tcp local=192.0.2.7:1 remote=192.0.2.66:443 at=0/0`,
				`5 send sendfile main inet/tcp local=192.0.2.7:1 remote=192.0.2.66:443 cut of 9 from="/f" at=0/0`,
				`5 send write main inet/tcp local=192.0.2.7:2 remote=192.0.2.66:443 data[1]="x" at=0/0`,
			}},
		"an address that a datagram socket only asked about": {
			[]string{
				`5 2.0 connect(3<UDP:[9]>, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.66")}, 16) = 0 <0.000001>`,
				`5 2.1 write(3<TCP:[192.0.2.7:1->192.0.2.66:443]>, "x", 1) = 1 <0.000001>`,
			}, []string{
				`5 connect write main inet/tcp local=192.0.2.7:1 remote=192.0.2.66:443 at=0/0`,
				`5 send write main inet/tcp local=192.0.2.7:1 remote=192.0.2.66:443 data[1]="x" at=0/0`,
			}},
		"connections that are what they seem": {
			[]string{
				`5 2.0 connect(3<TCPv6:[9]>, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::", &sin6_addr), sin6_scope_id=0}, 28) = 0 <0.000001>`,
				`5 2.1 write(3<TCPv6:[[::1]:9->[::1]:80]>, "x", 1) = 1 <0.000001>`,
				`5 2.2 accept4(4<TCPv6:[[::1]:81]>, {sa_family=AF_INET6, sin6_port=htons(7), sin6_flowinfo=htonl(0), inet_pton(AF_INET6, "::1", &sin6_addr), sin6_scope_id=0}, [28], 0) = 5<TCPv6:[[::1]:81->[::1]:7]> <0.000001>`,
				`5 2.3 write(5<TCPv6:[[::1]:81->[::1]:7]>, "x", 1) = 1 <0.000001>`,
			}, []string{
				`5 connect connect main inet6/tcp remote=[::]:80 at=0/0`,
				`5 send write main inet6/tcp local=[::1]:9 remote=[::1]:80 data[1]="x" at=0/0`,
				`5 accept accept4 main inet6/tcp local=[::1]:81 remote=[::1]:7 at=0/0`,
				`5 send write main inet6/tcp local=[::1]:81 remote=[::1]:7 data[1]="x" at=0/0`,
			}},
		"a question over TCP, in pieces, with two names": {
			[]string{
				`5 2.0 connect(3<TCP:[9]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("192.0.2.1")}, 16) = 0 <0.000001>`,
				`5 2.1 write(3<TCP:[9]>, "\0\32\0224\1\0\0\2\0\0\0\0\0\0", 14) = 14 <0.000001>`,
				`5 2.2 write(3<TCP:[9]>, "\1a\0\0\1\0\1\1b\0\0\1\0\1", 14) = 14 <0.000001>`,
			}, []string{
				`5 connect connect main inet/tcp remote=192.0.2.1:53 at=0/0`,
				`5 send write main inet/tcp remote=192.0.2.1:53 data[14]="\x00\x1a\x124\x01\x00\x00\x02\x00\x00\x00\x00\x00\x00" at=0/0`,
				`5 send write main inet/tcp remote=192.0.2.1:53 host=a data[14]="\x01a\x00\x00\x01\x00\x01\x01b\x00\x00\x01\x00\x01" at=0/0`,
				`5 connect write main inet/tcp remote=192.0.2.1:53 host=b at=0/0`,
			}},
		"a name that one thread asks for and another connects to": {
			[]string{
				`5 2.0 sendto(3<UDP:[9]>, "\0224\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", 19, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("192.0.2.1")}, 16) = 19 <0.000001>`,
				`5 2.1 recvmsg(3<UDP:[0.0.0.0:7]>, {msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="\0224\201\200\0\1\0\1\0\0\0\0\1a\0\0\1\0\1\300\f\0\1\0\1\0\0\0<\0\4\300\0\2\2", iov_len=512}], msg_iovlen=1, msg_controllen=0, msg_flags=0}, 0) = 35 <0.000001>`,
				`5 2.2 connect(4<TCP:[10]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.2")}, 16) = 0 <0.000001>`,
			}, []string{
				`5 connect sendto main inet/udp remote=192.0.2.1:53 host=a at=0/0`,
				`5 send sendto main inet/udp remote=192.0.2.1:53 host=a data[19]="\x124\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x00\x00\x01\x00\x01" at=0/0`,
				`5 receive recvmsg main inet/udp local=0.0.0.0:7 data[35]="\x124\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00\x01a\x00\x00\x01\x00\x01\xc0\f\x00\x01\x00\x01\x00\x00\x00<\x00\x04\xc0" at=0/0`,
				`5 connect connect main inet/tcp remote=192.0.2.2:80 host=a at=0/0`,
			}},
		"a second thread becomes the process": {
			[]string{
				`5 2.0 clone(child_stack=0x1, flags=CLONE_THREAD) = 6 <0.000001>`,
				`6 2.1 execve("/bin/x", ["x"], 0x1 /* 0 vars */ <unfinished ...>`,
				`5 2.2 +++ superseded by execve in pid 6 +++`,
				`5 2.3 <... execve resumed>) = 0 <0.100000>`,
				`5 2.4 open("/a", O_RDONLY) = 3</a> <0.000001>`,
			}, []string{
				`5 exec execve main path="/bin/x" argv=["x"] at=0/0`,
				`5 read open main path="/a" flags=O_RDONLY at=0/0`,
			}},
		"a second thread becomes the process at once": {
			[]string{
				`5 2.0 clone(child_stack=0x1, flags=CLONE_THREAD) = 6 <0.000001>`,
				`6 2.1 execve("/bin/x", ["x"], ["A=1"] <pid changed to 5 ...>`,
				`5 2.2 +++ superseded by execve in pid 6 +++`,
				`5 2.3 <... execve resumed>) = 0 <0.100000>`,
			}, []string{`5 exec execve main path="/bin/x" argv=["x"] env=["A=1"] at=0/0`}},
	} {
		t.Run(name, func(t *testing.T) {
			lines := make([]string, len(tc.lines))
			for i, l := range tc.lines { // the times are of no interest: give them six digits
				f := strings.SplitN(l, " ", 3)
				lines[i] = fmt.Sprintf("%-5s %d.%06d %s", f[0], 2, i, f[2])
			}
			got, stats := decodeLines(t, lines...)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if stats.Unparsed != 0 {
				t.Errorf("not parsed: %s", stats.Sample)
			}
		})
	}
}
