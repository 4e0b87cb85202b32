package audit

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// TestUnrefusable: connections are refused where there were any that could be.
func TestUnrefusable(t *testing.T) {
	did := func(kind profile.Kind, protocol, address string, port int) []observation {
		o := watched()
		o.profile.Effects = []profile.Effect{{Fact: profile.Fact{Kind: kind, Protocol: protocol, Address: address, Port: port}}}
		return []observation{o}
	}
	for name, tc := range map[string]struct {
		network report.Network
		runs    []observation
		want    error
	}{
		"a host":              {report.NetworkSinkhole, did(profile.KindConnect, "tcp", "93.184.216.34", 443), nil},
		"a datagram":          {report.NetworkSinkhole, did(profile.KindSend, "udp", "93.184.216.34", 123), nil},
		"a name":              {report.NetworkSinkhole, did(profile.KindSend, "udp", "127.0.0.53", 53), nil},
		"itself":              {report.NetworkSinkhole, did(profile.KindConnect, "tcp", "127.0.0.1", 8080), errNoNetwork},
		"a port of its own":   {report.NetworkSinkhole, did(profile.KindListen, "tcp", "0.0.0.0", 8080), errNoNetwork},
		"nothing":             {report.NetworkSinkhole, []observation{watched()}, errNoNetwork},
		"refused in any case": {report.NetworkDeny, did(profile.KindConnect, "tcp", "93.184.216.34", 443), errDenied},
		"the machine's":       {report.NetworkAllow, did(profile.KindConnect, "tcp", "93.184.216.34", 443), errAllowed},
	} {
		if got := unrefusable(launch{}, Plan{Network: tc.network}, tc.runs).impossible; !errors.Is(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

// TestUntold: a variable is without our certificate only where nothing needs it, and what reaches out is not hurried.
func TestUntold(t *testing.T) {
	o := watched()
	e := profile.Effect{Fact: profile.Fact{Kind: profile.KindConnect, Protocol: "tcp", Address: "93.184.216.34", Port: 443}}
	e.Capability = report.Capability{Kind: report.CapabilityTool, Name: "fetch"}
	o.profile.Effects = []profile.Effect{e}
	for name, runs := range map[string][]observation{"quiet": {watched()}, "reaching": {watched(), o}} {
		var how launch
		disguise(Plan{}, &how, runs)
		if quiet := name == "quiet"; how.untold != quiet || reaching(runs)[e.Capability] == quiet {
			t.Errorf("%s: untold %t, %v", name, how.untold, reaching(runs))
		}
	}
}

// TestRefusedIsNeverAReason: that a server does not answer without a network says nothing;
// that nobody watched it does.
func TestRefusedIsNeverAReason(t *testing.T) {
	refused := func(o observation) []observation {
		o.how = launch{moment: report.LaunchRefused, refuse: true}
		return []observation{watched(), o}
	}
	exits := watched(incompleteProbe(report.ReasonServerExited, "the server exited"))
	for name, o := range map[string]observation{"not made": {launched: errNoNetwork}, "exits": exits} {
		if got := incomplete(refused(o)); got.Reason != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := incomplete(refused(watched(func(o *observation) { o.lost = true }))); got.Reason != report.ReasonTracerLost {
		t.Errorf("unwatched: %+v", got)
	}
}

// TestRefusedGoesByWhatWasAccepted: each tool is called as it was before.
func TestRefusedGoesByWhatWasAccepted(t *testing.T) {
	first := watched()
	first.result.Accepted = map[string]json.RawMessage{"t": []byte(`{"a":1}`), "u": []byte(`{}`)}
	var how launch
	refuse(Plan{}, &how, []observation{first})
	p := Plan{}
	p.Probe.Inputs = map[string]json.RawMessage{"t": []byte(`{"a":2}`)}
	options := p.options(how)
	if string(options.Given["t"]) != `{"a":2}` || string(options.Given["u"]) != `{}` || options.MaxCalls != 1 {
		t.Errorf("%+v", options)
	}
}

// TestRefusedHasSecrets: the secrets that the server's code reads have values where its errors may tell them, and are
// no gap.
func TestRefusedHasSecrets(t *testing.T) {
	first := watched()
	first.keys = []string{"ACME_TOKEN", "SET_TOKEN", "OTHER_KEY", "MCP_AUTH_TOKEN"}
	how := launch{moment: report.LaunchRefused, excluded: []string{"OTHER_KEY"}}
	refuse(Plan{Env: []string{"SET_TOKEN=x"}}, &how, []observation{first})
	refused := watched()
	refused.how = how
	if names := namesOf(how.asked); len(names) != 1 || names[0] != "ACME_TOKEN" {
		t.Fatalf("it has %v", names)
	}
	leaked := func(name string) leak.Leak {
		return leak.Leak{Channel: leak.Answer, Decoy: decoy.ID{Variable: true, Name: name}}
	}
	refused.leaks = []leak.Leak{leaked("ACME_TOKEN"), leaked("GITHUB_TOKEN")}
	runs := []observation{first, refused}
	var gaps collection
	gaps.credentials(runs)
	if _, leaks := merge(runs); !leaks[0].Unsent || leaks[1].Unsent || len(gaps.list) > 0 {
		t.Errorf("%+v, gaps %+v", leaks, gaps)
	}
}

// TestRefusedIsNotCompared: there may be no time for it in the next audit.
func TestRefusedIsNotCompared(t *testing.T) {
	o := watched()
	o.profile.Effects = []profile.Effect{{Fact: profile.Fact{Kind: profile.KindConnect, Path: "a"}}}
	o.how = launch{moment: report.LaunchRefused, refuse: true}
	runs := []observation{watched(), o}
	if seen, _ := merge(runs); len(seen.Effects) != 1 || len(repeatable(runs)) != 1 || len(runs) != 2 {
		t.Errorf("%+v", seen)
	}
}

// TestRefusedConnectionsAreThoseOfAllCalls: a client that keeps its connection makes it in the
// first call; where it is refused, in each. Another place, and what the server does by
// itself, counts.
func TestRefusedConnectionsAreThoseOfAllCalls(t *testing.T) {
	tool := func(name string) report.Capability { return report.Capability{Kind: report.CapabilityTool, Name: name} }
	connects := func(of report.Capability, host string) profile.Effect {
		return profile.Effect{Where: ledger.Where{Capability: of}, Fact: profile.Fact{Kind: profile.KindConnect, Protocol: "udp", Address: "10.0.0.53", Port: 53, Host: host}}
	}
	exercise, refused := watched(), watched()
	exercise.profile.Effects = []profile.Effect{connects(tool("first"), "api.example")}
	refused.how = launch{moment: report.LaunchRefused, refuse: true}
	server := report.Capability{Kind: report.CapabilityServer}
	refused.profile.Effects = []profile.Effect{
		connects(tool("first"), "api.example"), connects(tool("second"), "api.example"), connects(tool("second"), "other.example"), connects(server, "api.example"),
	}
	seen, _ := merge([]observation{exercise, refused})
	for _, e := range seen.Effects {
		if e.Capability == tool("second") && e.Host == "api.example" {
			t.Errorf("%+v is no doing of that call alone", e)
		}
	}
	if len(seen.Effects) != 3 || len(refused.profile.Effects) != 4 {
		t.Errorf("%+v", seen.Effects)
	}
}
