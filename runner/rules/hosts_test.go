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

// In a cluster each name is tried with the search domains behind it.
func TestSearchDomains(t *testing.T) {
	search := []string{"svc.cluster.local", "audits.svc.cluster.local", "cluster.local"}
	for asked, want := range map[string]string{
		"raw.example.com.audits.svc.cluster.local": "raw.example.com",
		"raw.example.com.svc.cluster.local":        "raw.example.com",
		"raw.example.com.cluster.local":            "raw.example.com",
		"raw.example.com":                          "raw.example.com",
		"RAW.example.com.cluster.local.":           "raw.example.com",
		"xcluster.local":                           "xcluster.local",
		"cluster.local":                            "cluster.local",
		"secret.evil.test.cluster.local.evil.test": "secret.evil.test.cluster.local.evil.test",
	} {
		if got := withoutSearch(input(silent, lookupOf(call, asked)).Profile.Effects, search)[0].Host; got != want {
			t.Errorf("%s is %s, want %s", asked, got, want)
		}
	}
	in := fetching(fetcher, lookupOf(call, marked+".svc.cluster.local"), lookupOf(call, marked), toMark)
	in.Search = search
	if got := Judge(in); len(got) != 0 {
		t.Errorf("%q", lines(got))
	}
	if got := (Input{Profile: in.Profile}).Profile.Effects[0].Host; got != marked+".svc.cluster.local" {
		t.Errorf("the profile of the caller was changed: %s", got)
	}
}
