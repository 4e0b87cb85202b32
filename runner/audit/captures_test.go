package audit

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// sent is a sinkhole to which these came.
func sent(captures ...sinkhole.Capture) <-chan sinkhole.Capture {
	all := make(chan sinkhole.Capture, len(captures))
	for _, c := range captures {
		all <- c
	}
	close(all)
	return all
}

// TestCatch: every part is searched; of one that is long the beginning is kept,
// and neither questions nor long ones push out the rest. What comes again is no loss.
func TestCatch(t *testing.T) {
	var all []sinkhole.Capture
	for i := range 2 * maxQuestions {
		all = append(all, sinkhole.Capture{Flow: uint64(i + 10), Protocol: "dns", Data: []byte{byte(i), byte(i >> 8)}})
	}
	all = append(all, sinkhole.Capture{Flow: 9, Protocol: "dns", Data: []byte{0, 0}}) // the first again is nothing new
	for i := range 1000 {
		all = append(all, sinkhole.Capture{Flow: 1, Protocol: "https", Request: "PUT /a", Size: int64(i + 1), Continues: i > 0})
	}
	all = append(all, sinkhole.Capture{Flow: 1, Protocol: "https", Request: "PUT /a", Size: 1003, Offset: 1000, Data: []byte("x")},
		sinkhole.Capture{Flow: 2, Protocol: "tls", Host: "b.example", Opaque: true})
	looked := 0
	got := catch(sent(all...), nil, func(sinkhole.Capture) { looked++ })
	if looked != len(all) {
		t.Errorf("%d of %d parts were searched", looked, len(all))
	}
	if got.dropped != maxQuestions || got.opaque != 1 || got.opaqueTo != "b.example" || got.lost < 2 {
		t.Errorf("dropped %d, opaque %d to %s, lost %d", got.dropped, got.opaque, got.opaqueTo, got.lost)
	}
	want := []sinkhole.Capture{
		{Flow: 1, Protocol: "https", Request: "PUT /a", Size: 1000},
		{Flow: 1, Protocol: "https", Request: "PUT /a", Size: 1003, Offset: 1000, Data: []byte("x")},
		{Flow: 2, Protocol: "tls", Host: "b.example", Opaque: true},
	}
	if diff := cmp.Diff(want, got.captures[maxQuestions:], cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
		t.Error(diff)
	}
	if none := catch(nil, nil, nil); len(none.captures) > 0 {
		t.Errorf("without a sinkhole there is %+v", none)
	}
}

// TestIdentity: a metadata service that was asked for credentials once, in whatever run,
// was not asked for its identity only.
func TestIdentity(t *testing.T) {
	asked := func(requests ...string) observation {
		var all []sinkhole.Capture
		for i, request := range requests {
			c := sinkhole.Capture{Flow: uint64(i), Destination: netip.MustParseAddrPort("169.254.169.254:80"), Protocol: "http", Request: request, Size: 1}
			if request == "" || request == "again" {
				c.Protocol, c.Size = "tcp", 0
			}
			if request == "" {
				c.Destination = netip.MustParseAddrPort("100.100.100.200:80")
			}
			all = append(all, c)
		}
		return observation{caught: catch(sent(all...), nil, func(sinkhole.Capture) {})}
	}
	const document, credentials = "GET /latest/dynamic/instance-identity/document HTTP/1.1", "GET /latest/meta-data/iam/security-credentials/ HTTP/1.1"
	for _, tc := range []struct {
		runs []observation
		want map[string]bool
	}{
		{[]observation{asked(document)}, map[string]bool{"169.254.169.254": true}},
		{[]observation{asked(document, credentials, document)}, map[string]bool{"169.254.169.254": false}},
		{[]observation{asked(document), asked(credentials), asked(document)}, map[string]bool{"169.254.169.254": false}},
		{[]observation{asked()}, map[string]bool{}},
		// One that was connected to and asked nothing is like those that were asked.
		{[]observation{asked(document, "")}, map[string]bool{"169.254.169.254": true, "100.100.100.200": true}},
		{[]observation{asked(credentials, "")}, map[string]bool{"169.254.169.254": false}},
		{[]observation{asked("")}, map[string]bool{}},
		{[]observation{asked("", "again")}, map[string]bool{"169.254.169.254": true, "100.100.100.200": true}},
	} {
		if diff := cmp.Diff(tc.want, identity(tc.runs)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestVersions: a registry that was asked for a package once, in whatever run, was not asked
// for its versions only.
func TestVersions(t *testing.T) {
	asked := func(requests ...string) observation {
		var all []sinkhole.Capture
		for i, request := range requests {
			all = append(all, sinkhole.Capture{Flow: uint64(i), Destination: netip.MustParseAddrPort("28.1.2.3:443"), Host: "pypi.org", Named: "pypi.org",
				Protocol: "https", Request: request, Size: 1})
		}
		return observation{caught: catch(sent(all...), nil, func(sinkhole.Capture) {})}
	}
	const document, archive = "GET /pypi/fastmcp/json HTTP/1.1", "GET /packages/x-1.0-py3-none-any.whl HTTP/1.1"
	for _, tc := range []struct {
		runs []observation
		want map[string]bool
	}{
		{[]observation{asked(document), asked(document, document)}, map[string]bool{"pypi.org": true}},
		{[]observation{asked(archive, document)}, map[string]bool{"pypi.org": false}},
		{[]observation{asked(document), asked(archive), asked(document)}, map[string]bool{"pypi.org": false}},
		{[]observation{asked(document, "GET /pypi/mcp/json HTTP/1.1")}, map[string]bool{"pypi.org": false}},
		{[]observation{asked()}, map[string]bool{}},
	} {
		if diff := cmp.Diff(tc.want, versions(tc.runs)); diff != "" {
			t.Error(diff)
		}
	}
}
