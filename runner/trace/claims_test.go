package trace

import (
	"fmt"
	"net/netip"
	"testing"
)

// TestClaims: bytes of claimed connections advance the conversation, others are effects.
func TestClaims(t *testing.T) {
	const (
		in  = `5 2.000000 recvfrom(7<TCP:[127.0.0.1:8080->127.0.0.1:4242]>, "x"..., 9999, 0, NULL, NULL) = 30 <0.000001>`
		out = `5 2.000000 writev(7<TCP:[127.0.0.1:8080->127.0.0.1:4242]>, [{iov_base="y", iov_len=1}], 1) = 20 <0.000001>`
	)
	for name, tc := range map[string]struct {
		lines []string
		want  string
	}{
		"a request and its response": {[]string{in, out}, "30/20, 0 effects"},
		"IPv6 that carries IPv4": {[]string{
			`5 2.000000 read(7<TCPv6:[[::ffff:127.0.0.1]:8080->[::ffff:127.0.0.1]:4242]>, "x"..., 9999) = 5 <0.000001>`}, "5/0, 0 effects"},
		"several messages": {[]string{`5 2.000000 sendmmsg(7<TCP:[127.0.0.1:8080->127.0.0.1:4242]>, ` +
			`[{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="ab", iov_len=2}], msg_iovlen=1}, msg_len=2}, ` +
			`{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base="c", iov_len=1}], msg_iovlen=1}, msg_len=1}], 2, 0) = 2 <0.000001>`},
			"0/3, 0 effects"},
		"a file that is sent": {[]string{`5 2.000000 sendfile(7<TCP:[127.0.0.1:8080->127.0.0.1:4242]>, 8</srv/page>, NULL, 9) = 9 <0.000001>`},
			"0/9, 0 effects"},
		"a look ahead": {[]string{
			`5 2.000000 recvfrom(7<TCP:[127.0.0.1:8080->127.0.0.1:4242]>, "x"..., 9999, MSG_PEEK, NULL, NULL) = 30 <0.000001>`, in}, "30/0, 0 effects"},
		"a failed write": {[]string{`5 2.000000 write(7<TCP:[127.0.0.1:8080->127.0.0.1:4242]>, "y", 1) = -1 EPIPE (Broken pipe) <0.000001>`},
			"0/0, 0 effects"},
		"a connection that nobody claimed": {[]string{
			`5 2.000000 write(7<TCP:[127.0.0.1:8080->127.0.0.1:4243]>, "y", 1) = 1 <0.000001>`}, "0/0, 2 effects"},
		"one to the same number elsewhere": {[]string{
			`5 2.000000 write(7<TCP:[192.0.2.1:8080->192.0.2.9:4242]>, "y", 1) = 1 <0.000001>`}, "0/0, 2 effects"},
		"one of another port of the server's": {[]string{
			`5 2.000000 write(7<TCP:[127.0.0.1:8081->127.0.0.1:4242]>, "y", 1) = 1 <0.000001>`}, "0/0, 2 effects"},
		"of another network namespace, accepted with its address": {[]string{
			`5 2.000000 accept4(3<TCP:[11]>, {sa_family=AF_INET, sin_port=htons(4242), sin_addr=inet_addr("127.0.0.1")}, [16], SOCK_CLOEXEC) = 7<TCP:[12]> <0.000001>`,
			`5 2.000000 recvfrom(7<TCP:[12]>, "x"..., 9999, 0, NULL, NULL) = 8 <0.000001>`}, "8/0, 1 effects"},
		"of another network namespace, connected to": {[]string{
			`5 2.000000 connect(7<TCP:[12]>, {sa_family=AF_INET, sin_port=htons(4242), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000001>`,
			`5 2.000000 write(7<TCP:[12]>, "y", 1) = 1 <0.000001>`}, "0/0, 2 effects"},
		"the end of a connection is not that of the conversation": {[]string{
			`5 2.000000 read(7<TCP:[127.0.0.1:8080->127.0.0.1:4242]>, "", 9999) = 0 <0.000001>`, in}, "30/0, 0 effects"},
	} {
		effects := -1 // the execve
		d := newDecoder(Config{}, func(Event) { effects++ })
		d.claims = &claims{}
		d.claims.add(netip.MustParseAddrPort("127.0.0.1:4242"), 8080)
		for _, l := range append([]string{begin}, tc.lines...) {
			d.feed([]byte(l))
		}
		got := fmt.Sprintf("%d/%d, %d effects", d.at.In, d.at.Out, effects)
		if got != tc.want || d.at.EOF || d.stats.Unparsed > 0 {
			t.Errorf("%s: %s, want %s (%+v)", name, got, tc.want, d.stats)
		}
	}
}
