package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

func TestPrivileges(t *testing.T) {
	connect := func(address string, port int, host string) profile.Effect {
		return profile.Effect{Fact: profile.Fact{Kind: profile.KindConnect, Address: address, Port: port, Protocol: "tcp", Host: host}}
	}
	lookup := connect("10.96.0.10", 53, "api.example.com")
	lookup.Protocol = "udp"
	searched := connect("28.18.0.1", 443, "API.example.com.runs.svc.cluster.local.")
	listen := profile.Effect{Fact: profile.Fact{Kind: profile.KindListen, Address: "::", Port: 8080, Protocol: "tcp"}}
	local := listen
	local.Address = "127.0.0.1"
	seen := profile.Profile{Dropped: 2, Effects: []profile.Effect{
		connect("28.18.0.1", 443, "api.example.com"), connect("28.18.0.2", 443, "api.example.com"), searched, lookup,
		connect("192.0.2.1", 5432, ""), connect("127.0.0.1", 6379, ""), connect("/run/nscd/socket", 0, ""), listen, local,
		{Fact: profile.Fact{Kind: profile.KindRead, Path: "/etc/hosts"}},
	}}
	wrote := watched(func(o *observation) {
		o.uid, o.gid = 1000, 1000
		o.needs.Add(trace.Event{Op: trace.OpWrite, Syscall: "openat", Path: "/home/u/.cache/x"})
	})
	plan := Plan{Decoys: decoy.Set{Home: "/home/u"}}
	plan.resolvers.search = []string{"runs.svc.cluster.local", "svc.cluster.local"}

	got := privileges(plan, []observation{wrote}, seen)
	if got == nil {
		t.Fatal("there are none")
	}
	if len(got.Calls) != 0 || len(got.Unmade) == 0 {
		t.Errorf("calls %v, unmade %v", got.Calls, got.Unmade)
	}
	got.Unmade = nil
	want := &report.Privileges{
		UID: 1000, GID: 1000, Home: "/home/u", Writes: []report.WrittenDirectory{{Path: "/home/u/.cache"}}, Dropped: 2,
		Egress: []report.Peer{{Address: "10.96.0.10", Port: 53, Protocol: "udp"}, {Address: "192.0.2.1", Port: 5432, Protocol: "tcp"},
			{Host: "api.example.com", Port: 443, Protocol: "tcp"}},
		Listens: []report.Peer{{Address: "::", Port: 8080, Protocol: "tcp"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("privileges (-want +got):\n%s", diff)
	}
}

// Of what was not traced nothing is known, and no list of what was not done.
func TestPrivilegesOfTheUntraced(t *testing.T) {
	for name, o := range map[string]observation{
		"elsewhere":    watched(func(o *observation) { o.untraced = true }),
		"never begun":  watched(func(o *observation) { o.stats.Begun = false }),
		"not launched": {launched: trace.ErrUnavailable},
	} {
		if got := privileges(Plan{}, []observation{o}, profile.Profile{}); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
