package audit

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

func TestUnmatched(t *testing.T) {
	to := func(op trace.Op, protocol, remote string) trace.Event {
		return trace.Event{Op: op, Socket: &trace.Socket{Protocol: protocol, Remote: netip.MustParseAddrPort(remote)}}
	}
	tcp := func(remote string) trace.Event { return to(trace.OpConnect, "tcp", remote) }
	udp := func(remote string) trace.Event { return to(trace.OpConnect, "udp", remote) }
	stream := func(at string) sinkhole.Capture {
		return sinkhole.Capture{Protocol: "http", Destination: netip.MustParseAddrPort(at)}
	}
	datagram := func(at string) sinkhole.Capture {
		return sinkhole.Capture{Protocol: "udp", Datagram: true, Destination: netip.MustParseAddrPort(at)}
	}
	for name, tc := range map[string]struct {
		events   []trace.Event
		captures []sinkhole.Capture
		want     string
	}{
		"nothing":                             {},
		"the same":                            {[]trace.Event{tcp("192.0.2.1:80")}, []sinkhole.Capture{stream("192.0.2.1:80")}, ""},
		"a connection that nothing came of":   {[]trace.Event{tcp("192.0.2.1:80")}, nil, ""},
		"a send":                              {[]trace.Event{to(trace.OpSend, "tcp", "192.0.2.1:80")}, []sinkhole.Capture{stream("192.0.2.1:80")}, ""},
		"another address":                     {[]trace.Event{tcp("192.0.2.1:80")}, []sinkhole.Capture{stream("192.0.2.2:80")}, "TCP 192.0.2.2:80,"},
		"another port":                        {[]trace.Event{tcp("192.0.2.1:80")}, []sinkhole.Capture{stream("192.0.2.1:81")}, "TCP 192.0.2.1:81,"},
		"a connection whose port is unknown":  {[]trace.Event{tcp("192.0.2.1:80")}, []sinkhole.Capture{stream("192.0.2.1:0")}, ""},
		"another protocol":                    {[]trace.Event{tcp("192.0.2.1:80")}, []sinkhole.Capture{datagram("192.0.2.1:0")}, "UDP 192.0.2.1,"},
		"a connection where a datagram went":  {[]trace.Event{udp("192.0.2.1:80")}, []sinkhole.Capture{stream("192.0.2.1:80")}, "TCP 192.0.2.1:80,"},
		"the first of several":                {nil, []sinkhole.Capture{stream("192.0.2.2:80"), stream("192.0.2.1:80")}, "TCP 192.0.2.1:80,"},
		"a datagram":                          {[]trace.Event{udp("192.0.2.1:9")}, []sinkhole.Capture{datagram("192.0.2.1:0")}, ""},
		"a datagram elsewhere":                {[]trace.Event{udp("127.0.0.1:9")}, []sinkhole.Capture{datagram("192.0.2.1:0")}, "UDP 192.0.2.1,"},
		"a look-up":                           {[]trace.Event{udp("10.96.0.10:53")}, []sinkhole.Capture{datagram("10.96.0.10:53")}, ""},
		"a look-up that seems to be no such":  {[]trace.Event{udp("192.0.2.1:9")}, []sinkhole.Capture{datagram("192.0.2.1:53")}, "UDP 192.0.2.1:53,"},
		"a look-up of the machine itself":     {[]trace.Event{udp("0.0.0.0:53")}, []sinkhole.Capture{datagram("127.0.0.1:53")}, ""},
		"the same of IPv6":                    {[]trace.Event{udp("[::]:53")}, []sinkhole.Capture{datagram("[::1]:53")}, ""},
		"a look-up at another of its own":     {[]trace.Event{udp("127.0.0.1:53")}, []sinkhole.Capture{datagram("127.0.0.53:53")}, "UDP 127.0.0.53:53,"},
		"a service of the machine":            {nil, []sinkhole.Capture{stream("127.0.0.1:11434"), stream("[::1]:3000")}, ""},
		"IPv4 in IPv6":                        {[]trace.Event{tcp("192.0.2.1:80")}, []sinkhole.Capture{stream("[::ffff:192.0.2.1]:80")}, ""},
		"an interface":                        {[]trace.Event{tcp("[fe80::1%eth0]:80")}, []sinkhole.Capture{stream("[fe80::1]:80")}, ""},
		"broadcast and multicast":             {[]trace.Event{udp("255.255.255.255:9"), udp("[ff02::fb]:5353")}, []sinkhole.Capture{datagram("255.255.255.255:0"), datagram("[ff02::fb]:0")}, ""},
		"a socket that the tracer cannot see": {[]trace.Event{{Op: trace.OpConnect, Socket: &trace.Socket{Protocol: "udp"}}, {Op: trace.OpConnect}}, []sinkhole.Capture{datagram("192.0.2.1:0")}, "UDP 192.0.2.1,"},
		"a peer that only sent":               {[]trace.Event{to(trace.OpReceive, "udp", "192.0.2.1:9")}, []sinkhole.Capture{datagram("192.0.2.1:0")}, "UDP 192.0.2.1,"},
	} {
		var arrived, shown destinations
		for _, e := range tc.events {
			shown.event(e)
		}
		for _, c := range tc.captures {
			arrived.capture(c)
		}
		if got := unmatched(arrived, shown); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestDestinationsAreBounded: what did not fit is not known to be missing, and not known to be there.
func TestDestinationsAreBounded(t *testing.T) {
	var many, other destinations
	a := netip.MustParseAddr("2001:db8::1")
	other.put(false, a, 1)
	for range maxDestinations + 1 {
		many.put(false, a, 0)
		a = a.Next()
	}
	other.put(false, a, 0)
	if len(many.all) != maxDestinations || !many.full {
		t.Errorf("%d kept, full: %t", len(many.all), many.full)
	}
	for what, got := range map[string]string{"shown": unmatched(other, many), "arrived": unmatched(many, many)} {
		if !strings.Contains(got, "more destinations") {
			t.Errorf("too many %s: %q", what, got)
		}
	}
}

// recorded is a server that has run: a trace, and what the sinkhole received.
type recorded struct {
	session  *trace.Session
	captures chan sinkhole.Capture
	exited   chan struct{}
}

func (r recorded) Launch(context.Context, Start) (Process, error) { return r, nil }

type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

func (r recorded) Streams() (io.WriteCloser, io.ReadCloser, io.ReadCloser) {
	return nowhere{io.Discard}, io.NopCloser(strings.NewReader("")), io.NopCloser(strings.NewReader(""))
}
func (r recorded) Trace() *trace.Session                                  { return r.session }
func (r recorded) Dial(context.Context, netip.AddrPort) (net.Conn, error) { return nil, net.ErrClosed }
func (r recorded) Exited() <-chan struct{}                                { return r.exited }
func (r recorded) Status() (syscall.WaitStatus, bool)                     { return 0, true }
func (r recorded) Captures() <-chan sinkhole.Capture                      { return r.captures }
func (r recorded) Call(sinkhole.Call)                                     {}
func (r recorded) Opened() []string                                       { return nil }
func (r recorded) Notes() []string                                        { return nil }
func (r recorded) Stop(context.Context) {
	r.session.Ended()
	close(r.captures)
}

// TestAC6DestinationsTheTraceDoesNotShow: what the sinkhole receives is a witness of where the server has sent.
func TestAC6DestinationsTheTraceDoesNotShow(t *testing.T) {
	const line = `1 %d.000001 connect(3<TCP:[9]>, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16) = 0 <0.000001>`
	for at, want := range map[string]string{
		"192.0.2.1:80":     "",
		"93.184.216.34:80": "something was sent to TCP 93.184.216.34:80, which the trace does not show",
	} {
		file, now := filepath.Join(t.TempDir(), "trace.txt"), time.Now().Unix()
		text := fmt.Sprintf("1 %d.000000 execve(\"/server\", [\"/server\"], []) = 0 <0.000001>\n"+line+"\n1 %d.000002 +++ exited with 0 +++\n", now, now, now)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		session, err := trace.Follow(trace.Config{Backend: plan.TracerStrace, File: file, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		server := recorded{session, make(chan sinkhole.Capture, 1), make(chan struct{})}
		close(server.exited)
		server.captures <- sinkhole.Capture{Protocol: "http", Destination: netip.MustParseAddrPort(at)}
		o := observe(t.Context(), Plan{Timeout: time.Minute, Progress: func(string) {}}, server, launch{})
		if got := o.overflow().Message; got != want || o.stats.Events == 0 {
			t.Errorf("%s: %q, want %q; stats %+v", at, got, want, o.stats)
		}
	}
}
