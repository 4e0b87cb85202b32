package audit

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// TestL7FetchedCode: code that came over the network is no Pass, and what an honest server
// does with an open network is.
func TestL7FetchedCode(t *testing.T) {
	call := ledger.Where{Phase: report.PhaseCall, Capability: report.Capability{Kind: report.CapabilityTool, Name: "x"}}
	at := func(where ledger.Where, effects ...profile.Effect) []profile.Effect {
		for i := range effects {
			effects[i].Where = where
		}
		return effects
	}
	tcp := func(host, address string) profile.Effect {
		return profile.Effect{Kind: profile.KindConnect, Host: host, Address: address, Port: 443, Protocol: "tcp"}
	}
	npx, node := []string{"npx", "-y", "x"}, []string{"node", "x.js"}
	program := []profile.Effect{{Kind: profile.KindWrite, Path: "/tmp/x"}, {Kind: profile.KindExec, Path: "/tmp/x"}}
	for name, tc := range map[string]struct {
		command []string
		network report.Network
		effects []profile.Effect
		want    report.Reason
	}{
		"registry":             {node, report.NetworkAllow, at(startup, tcp("registry.npmjs.org", "104.16.0.1")), report.ReasonCodeFetched},
		"registry, in a shell": {[]string{"sh", "-c", "npx -y x"}, report.NetworkAllow, at(startup, tcp("", "104.16.0.1")), report.ReasonCodeFetched},
		"download":             {node, report.NetworkAllow, at(startup, append(program, tcp("x.example", "192.0.2.1"))...), report.ReasonCodeFetched},
		"deno":                 {[]string{"deno", "run", "https://deno.land/x"}, report.NetworkAllow, at(startup, tcp("deno.land", "192.0.2.1")), report.ReasonCodeFetched},
		"cached":               {npx, report.NetworkAllow, nil, ""},
		"failed":               {npx, report.NetworkAllow, at(startup, profile.Effect{Kind: profile.KindConnect, Host: "registry.npmjs.org", Error: "ECONNREFUSED"}), ""},
		"loopback":             {npx, report.NetworkAllow, at(startup, tcp("", "127.0.0.1")), ""},
		"an API":               {node, report.NetworkAllow, at(startup, tcp("api.example.com", "192.0.2.1")), ""},
		"a tool's work":        {node, report.NetworkAllow, at(call, tcp("registry.npmjs.org", "104.16.0.1")), ""},
		"builds, no network":   {node, report.NetworkAllow, at(startup, program...), ""},
		"sinkhole":             {npx, report.NetworkSinkhole, at(startup, tcp("registry.npmjs.org", "104.16.0.1")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := watched(func(o *observation) { o.profile.Effects = tc.effects })
			if got := fetched(Plan{Command: tc.command, Network: tc.network}, []observation{o}); got.Reason != tc.want {
				t.Errorf("got %+v, want %q", got, tc.want)
			}
		})
	}
}
