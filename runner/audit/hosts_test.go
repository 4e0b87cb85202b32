package audit

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/behavior"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// TestH6OneHost connects through each search domain of a Pod: rules, behaviour and
// policies speak of the same host, and two Services are never one.
func TestH6OneHost(t *testing.T) {
	said := scope.Read(manifest.Manifest{ServerName: []byte(`"notes"`)}, scope.Given{})
	search := []string{"runs.svc.cluster.local", "svc.cluster.local", "cluster.local", "corp.example"}
	for asked, want := range map[string]struct{ host, peer string }{
		"api.notion.com":                            {"api.notion.com", "api.notion.com"},
		"API.notion.com.runs.svc.cluster.local.":    {"api.notion.com", "api.notion.com"},
		"api.notion.com.svc.cluster.local":          {"api.notion.com", "api.notion.com"},
		"api.notion.com.cluster.local":              {"api.notion.com", "api.notion.com"},
		"api.notion.com.corp.example":               {"api.notion.com", "api.notion.com"},
		"api.notion.com.corp.example.cluster.local": {"api.notion.com", "api.notion.com"},
		"notion.com.cluster.local":                  {"notion.com", "notion.com"},
		// Nothing is found there but a Service, whose namespace may be "com" as well as "prod".
		"notion.com.svc.cluster.local":                {"notion.com", "notion.com.svc.cluster.local"},
		"notes.runs.svc.cluster.local":                {"notes", "notes.runs.svc.cluster.local"},
		"notes.svc.cluster.local":                     {"notes", "notes.svc.cluster.local"},
		"notes.corp.example":                          {"notes", "notes.corp.example"},
		"db.prod.svc.cluster.local":                   {"db.prod", "db.prod.svc.cluster.local"},
		"db.prod.svc.cluster.local.svc.cluster.local": {"db.prod", "db.prod.svc.cluster.local"},
		"db.evil.svc.cluster.local":                   {"db.evil", "db.evil.svc.cluster.local"},
		"runs.svc.cluster.local":                      {"runs", "runs.svc.cluster.local"},
		"corp.example":                                {"corp.example", "corp.example"},
		"xcorp.example":                               {"xcorp.example", "xcorp.example"},
		"secret.evil.test.corp.example.evil.test":     {"secret.evil.test.corp.example.evil.test", "secret.evil.test.corp.example.evil.test"},
		"c12.pages.example.net.cluster.local":         {"c12.pages.example.net", "c12.pages.example.net"},
	} {
		seen := profile.Profile{Effects: []profile.Effect{{
			Fact:  profile.Fact{Kind: profile.KindConnect, Address: "28.18.0.9", Port: 443, Protocol: "tcp", Operation: "connect", Host: asked},
			Count: 1,
			Where: ledger.Where{Phase: report.PhaseStartup, Capability: report.Capability{Kind: report.CapabilityServer}},
		}}}
		t.Run(asked, func(t *testing.T) {
			if found := rules.Judge(rules.Input{Profile: seen, Scope: said, Search: search, End: time.Unix(0, 0)}); !strings.HasSuffix(want.host, inputs.Host) &&
				(len(found) != 1 || !strings.Contains(found[0].Message, " "+want.host+":443 ")) {
				t.Errorf("rules: want a finding about %s, got %+v", want.host, found)
			}
			entries := behavior.Of(seen, behavior.Server{Search: search}, false).Entries
			if wanted := "connect " + want.host + ":443"; !strings.HasSuffix(want.host, inputs.Host) && (len(entries) != 1 || entries[0] != wanted) {
				t.Errorf("behavior: want %q, got %q", wanted, entries)
			}
			plan := Plan{}
			plan.resolvers.search = search
			if peers := privileges(plan, []observation{watched()}, seen).Egress; len(peers) != 1 || peers[0].Host != want.peer {
				t.Errorf("privileges: want %s, got %+v", want.peer, peers)
			}
		})
	}
}
