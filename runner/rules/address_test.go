package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// TestLegacyAddress: numbers are addresses for whoever asks the C library.
func TestLegacyAddress(t *testing.T) {
	for text, want := range map[string]string{
		"7": "0.0.0.7", "127.1": "127.0.0.1", "0x7f000001": "127.0.0.1", "0177.0.0.01": "127.0.0.1", "192.0.513": "192.0.2.1",
		"3221225985": "192.0.2.1", "0xc0.0.2.0x1": "192.0.2.1",
		"": "", "4294967296": "", "256.1": "", "1.2.3.4.5": "", "08": "", "1.": "", "1_0": "", "+1": "", "0x": "", "a": "", "1.2.3.256": "",
	} {
		address, ok := legacyAddress(text)
		if got := address.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s %v", text, got, ok)
		}
	}
}

// TestNumberAsHost: who connects to the number that it was given as a host did as it was told.
func TestNumberAsHost(t *testing.T) {
	in := input(server{tools: []string{"format_note: Checks over the network whether a port of a host is open."}},
		connect(call, "tcp", "0.0.0.7", 8080), connect(call, "tcp", "192.0.2.1", 8080))
	in.Arguments = map[report.Capability][]Argument{call.Capability: {{Field: "host", Value: "7"}, {Field: "host", Value: "0xc0000201"}}}
	expect(t, in, "")
	in.Profile.Effects = append(in.Profile.Effects, connect(call, "tcp", "0.0.0.8", 8080))
	expect(t, in, "EGRESS-003 Medium")
}

// TestNamedBelow: a host that is named covers those below it whose label an argument gave.
func TestNamedBelow(t *testing.T) {
	for host, want := range map[string]string{
		"builds.example.com": "", "eu-west.builds.example.com": "", "us-east.builds.example.com": "EGRESS-001 Medium",
		"eu-west.example.com": "EGRESS-001 Medium", "eu-west.evil.test": "EGRESS-001 Medium",
	} {
		s := server{tools: []string{"format_note: Returns the status of a build from builds.example.com."}}
		e := connect(call, "tcp", "28.44.175.39", 80)
		e.Host = host
		in := input(s, e)
		in.Arguments = map[report.Capability][]Argument{call.Capability: {{Field: "region", Value: "eu-west"}}}
		t.Run(host, func(t *testing.T) { expect(t, in, want) })
	}
}
