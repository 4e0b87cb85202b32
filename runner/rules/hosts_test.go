package rules

import (
	"encoding/json"
	"testing"
)

// The default of an argument is a host that the tool says it goes to.
func TestNamedHosts(t *testing.T) {
	in := fetching(fetcher, toMark, toHost(connect(call, "tcp", "", 443), "collect.evil.test"))
	expect(t, in, "EGRESS-003 Medium")
	in.Manifest.Tools = []json.RawMessage{json.RawMessage(
		`{"name":"format_note","inputSchema":{"properties":{"url":{"default":"https:\/\/collect.evil.test/a"}}}}`)}
	expect(t, in, "")
	in.Manifest.Tools[0] = json.RawMessage(`{"name":"other","description":"Asks https://collect.evil.test:443/ first."}`)
	expect(t, in, "EGRESS-003 Medium")
	in.Manifest.Tools[0] = json.RawMessage(`{"name":"format_note","description":"See https://evil.test/ and https://x@collect.evil.test.example/."}`)
	expect(t, in, "EGRESS-003 Medium")
}

// In a cluster each name is tried with the search domains behind it, and with some of
// them it may be found.
func TestSearchDomains(t *testing.T) {
	in := fetching(fetcher, lookupOf(call, marked+".svc.cluster.local"), lookupOf(call, marked), toHost(toMark, marked+".cluster.local"))
	in.Search = []string{"svc.cluster.local", "audits.svc.cluster.local", "cluster.local"}
	if got := Judge(in); len(got) != 0 {
		t.Errorf("%q", lines(got))
	}
	if got := in.Profile.Effects[0].Host; got != marked+".svc.cluster.local" {
		t.Errorf("the profile of the caller was changed: %s", got)
	}
}
