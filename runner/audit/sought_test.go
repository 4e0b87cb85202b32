package audit

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// seeks is a connection to an address.
func seeks(protocol, to, errno string) trace.Event {
	return trace.Event{Op: trace.OpConnect, Errno: errno, Socket: &trace.Socket{Protocol: protocol, Remote: netip.MustParseAddrPort(to)}}
}

// TestSought: an address on the loopback that nobody listens at is a service of the user's machine.
func TestSought(t *testing.T) {
	for name, tc := range map[string]struct {
		of      trace.Event
		listens *listening
		want    string
	}{
		"refused":                {seeks("tcp", "127.0.0.1:3000", "ECONNREFUSED"), heard(), "[127.0.0.1:3000]"},
		"not waited for":         {seeks("tcp", "[::1]:3000", "EINPROGRESS"), heard(), "[[::1]:3000]"},
		"answered":               {seeks("tcp", "127.0.0.1:3000", ""), heard(), "[]"},
		"elsewhere":              {seeks("tcp", "192.0.2.1:3000", "EINPROGRESS"), heard(), "[]"},
		"a datagram":             {seeks("udp", "127.0.0.1:3000", "ECONNREFUSED"), heard(), "[]"},
		"a name server":          {seeks("tcp", "127.0.0.1:53", "ECONNREFUSED"), heard(), "[]"},
		"its own, that is later": {seeks("tcp", "127.0.0.1:9222", "ECONNREFUSED"), heard(listens("tcp", "0.0.0.0:9222", "")), "[]"},
	} {
		var s sought
		s.event(tc.of)
		if got := fmt.Sprint(s.seen(tc.listens)); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
	var s sought
	for port := range 100 {
		s.event(seeks("tcp", fmt.Sprintf("127.0.0.1:%d", 3000+port), "ECONNREFUSED"))
	}
	if got := len(s.seen(heard())); got != maxSought {
		t.Errorf("%d addresses are kept", got)
	}
}

// TestNeighbours: a server that does not start without a service is started with one, once,
// and the launches that follow have it from the beginning.
func TestNeighbours(t *testing.T) {
	at := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:6333")}
	exits := watched(incompleteProbe(report.ReasonServerExited, "the server exited"), func(o *observation) { o.result.Listed, o.sought = false, at })
	how, again := Plan{}.next([]observation{exits})
	if !again || how.moment != "" || len(how.neighbours) != 1 {
		t.Fatalf("a server that does not start without: %+v", how)
	}
	exits.how = how
	if _, again := (Plan{}).next([]observation{exits}); again {
		t.Error("tried for ever")
	}
	lists := watched(func(o *observation) { o.sought = at })
	if how, _ := (Plan{}).next([]observation{lists}); how.moment != report.MomentRestart || len(how.neighbours) != 1 {
		t.Errorf("the launch that follows: %+v", how)
	}
}
