package trace

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhereItGoes has lines of strace 6.1: bytes are sent to where the kernel sends them, whatever stands in the line.
func TestWhereItGoes(t *testing.T) {
	const (
		open    = `5 2.000000 socket(AF_INET, SOCK_DGRAM, IPPROTO_IP) = 3<UDP:[9]> <0.000001>`
		first   = `5 2.000000 connect(3<UDP:[9]>, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000001>`
		second  = `5 2.000000 connect(3<UDP:[127.0.0.1:4->127.0.0.1:53]>, {sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("192.0.2.1")}, 16) = 0 <0.000001>`
		written = `5 2.000000 write(3<UDP:[127.0.0.1:4->127.0.0.1:53]>, "x", 1) = 1 <0.000001>`

		tcp  = `5 2.000000 connect(3<TCP:[9]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16) = 0 <0.000001>`
		left = `5 2.000000 sendto(3<TCP:[192.0.2.7:4->192.0.2.1:80]>, "x", 1, 0, `
	)
	sent := []string{
		`5 connect connect main inet/tcp remote=192.0.2.1:80 at=0/0`,
		`5 send sendto main inet/tcp local=192.0.2.7:4 remote=192.0.2.1:80 data[1]="x" at=0/0`,
	}
	for name, tc := range map[string]struct{ lines, want []string }{
		"a datagram socket that is connected again": {[]string{open, first, second, written}, []string{
			`5 connect write main inet/udp local=127.0.0.1:4 remote=127.0.0.1:53 at=0/0`,
			`5 send write main inet/udp local=127.0.0.1:4 remote=127.0.0.1:53 data[1]="x" at=0/0`,
			`5 connect write main inet/udp local=127.0.0.1:4 remote=192.0.2.1:9 at=0/0`,
			`5 send write main inet/udp local=127.0.0.1:4 remote=192.0.2.1:9 data[1]="x" at=0/0`,
		}},
		"one that fails to be connected back": {[]string{open, first, second,
			`5 2.000000 bind(3<UDP:[127.0.0.1:4->127.0.0.1:53]>, {sa_family=AF_INET, sin_port=htons(4), sin_addr=inet_addr("127.0.0.1")}, 16) = -1 EINVAL (Invalid argument) <0.000001>`,
			strings.Replace(strings.Replace(first, "[9]", "[127.0.0.1:4->127.0.0.1:53]", 1), "= 0", "= -1 EINVAL (Invalid argument)", 1), written}, []string{
			`5 bind bind error=EINVAL main inet/udp local=127.0.0.1:4 remote=127.0.0.1:53 at=0/0`,
			`5 connect connect error=EINVAL main inet/udp local=127.0.0.1:4 remote=127.0.0.1:53 at=0/0`,
			`5 connect write main inet/udp local=127.0.0.1:4 remote=127.0.0.1:53 at=0/0`,
			`5 send write main inet/udp local=127.0.0.1:4 remote=127.0.0.1:53 data[1]="x" at=0/0`,
			`5 connect write main inet/udp local=127.0.0.1:4 remote=192.0.2.1:9 at=0/0`,
			`5 send write main inet/udp local=127.0.0.1:4 remote=192.0.2.1:9 data[1]="x" at=0/0`,
		}},
		"an address without a family": {[]string{
			`5 2.000000 sendto(3<UDP:[9]>, "x", 1, 0, {sa_family=AF_UNSPEC, sa_data="\0P\300\0\2\1\0\0\0\0\0\0\0\0"}, 16) = 1 <0.000001>`}, []string{
			`5 connect sendto main inet/udp remote=192.0.2.1:80 at=0/0`,
			`5 send sendto main inet/udp remote=192.0.2.1:80 data[1]="x" at=0/0`,
		}},
		"an address without a family, of IPv6": {[]string{
			`5 2.000000 sendto(3<UDPv6:[[2001:db8::7]:4->[2001:db8::1]:80]>, "x", 1, 0, {sa_family=AF_UNSPEC, sa_data="\0\0\0\0"}, 6) = 1 <0.000001>`}, []string{
			`5 connect sendto main inet6/udp local=[2001:db8::7]:4 remote=[2001:db8::1]:80 at=0/0`,
			`5 send sendto main inet6/udp local=[2001:db8::7]:4 remote=[2001:db8::1]:80 data[1]="x" at=0/0`,
		}},
		"a port without a family": {[]string{
			`5 2.000000 bind(3<UDP:[9]>, {sa_family=AF_UNSPEC, sa_data="\25\263\0\0\0\0\0\0\0\0\0\0\0\0"}, 16) = 0 <0.000001>`}, []string{
			`5 bind bind main inet/udp local=0.0.0.0:5555 at=0/0`,
		}},
		"a connection, with another address":  {[]string{tcp, left + `{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16) = 1 <0.000001>`}, sent},
		"a connection, with one of a kernel":  {[]string{tcp, left + `{sa_family=AF_NETLINK, nl_pid=0, nl_groups=00000000}, 12) = 1 <0.000001>`}, sent},
		"a connection, with one of a path":    {[]string{tcp, left + `{sa_family=AF_UNIX, sun_path=""}, 110) = 1 <0.000001>`}, sent},
		"a connection, with none of a family": {[]string{tcp, left + `{sa_family=AF_UNSPEC, sa_data="\0P\177\0\0\1"}, 16) = 1 <0.000001>`}, sent},
	} {
		got, stats := decodeLines(t, tc.lines...)
		if diff := cmp.Diff(tc.want, got); diff != "" || stats.Unparsed != 0 {
			t.Errorf("%s (-want +got):\n%s%s", name, diff, stats.Sample)
		}
	}
}

// TestConversationIsNotReconnected: a socket that carried the conversation and is connected elsewhere carries it no longer.
func TestConversationIsNotReconnected(t *testing.T) {
	var sent []string
	d := newDecoder(Config{}, func(e Event) {
		if e.Op == OpSend {
			sent = append(sent, e.Socket.Remote.String())
		}
	})
	d.claims = &claims{}
	d.claims.add(netip.MustParseAddrPort("127.0.0.1:4242"), 8080)
	for _, line := range []string{
		begin,
		`5 2.000000 connect(7<TCP:[127.0.0.1:8080->127.0.0.1:4242]>, {sa_family=AF_UNSPEC, sa_data="\0\0\0\0"}, 16) = 0 <0.000001>`,
		`5 2.000000 connect(7<TCP:[127.0.0.1:8080->127.0.0.1:4242]>, {sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("192.0.2.1")}, 16) = 0 <0.000001>`,
		`5 2.000000 write(7<TCP:[127.0.0.1:8080->127.0.0.1:4242]>, "x", 1) = 1 <0.000001>`,
	} {
		d.feed([]byte(line))
	}
	if !slices.Contains(sent, "192.0.2.1:9") || d.at.Out != 0 {
		t.Errorf("sent to %v, and %d bytes in answers", sent, d.at.Out)
	}
}
