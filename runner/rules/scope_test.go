package rules

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// allowing is a complete audit under an operator's scope.
func allowing(allow report.DeclaredScope, effects ...profile.Effect) Input {
	in := input(silent, effects...)
	in.Complete, in.Scope = true, scope.Read(manifest.Manifest{}, scope.Given{Allow: &allow, Home: home})
	return in
}

var gitOnly = report.DeclaredScope{Exec: []string{"git", "rsync"}}

var _ = prove(map[string]proof{
	"MCPA-SCOPE-001": {
		finds: []Input{allowing(gitOnly, run(startup, "/usr/bin/git"))},
		spares: []Input{
			allowing(report.DeclaredScope{Exec: []string{"git"}}, run(startup, "/usr/bin/git")),
			given(allowing(gitOnly), func(in *Input) { in.Complete = false }),
			allowing(report.DeclaredScope{Exec: []string{}, ReadPaths: []string{"/data/"}}),
			given(input(local), func(in *Input) { in.Complete = true }),
		},
	},
})

// given is an input in which something else is so.
func given(in Input, change func(*Input)) Input {
	change(&in)
	return in
}

// One finding for each list names the entries that nothing used.
func TestUnusedScope(t *testing.T) {
	connect := profile.Effect{Fact: profile.Fact{Kind: profile.KindConnect, Host: "api.example.com", Address: "28.18.0.1", Port: 443, Protocol: "tcp"}, Where: call}
	allow := report.DeclaredScope{
		Egress: []string{"api.example.com:443", "old.example.com", "10.0.0.0/8"}, Exec: []string{"git", "rsync"},
		WritePaths: []string{"~/notes/"}, Listen: []string{},
	}
	for name, tc := range map[string]struct {
		in   Input
		want []string
	}{
		"some used": {allowing(allow, connect, run(startup, "/usr/bin/git")),
			[]string{"egress that nothing in this audit used: old.example.com.", "writePaths that nothing in this audit used: ~/notes/.",
				"exec that nothing in this audit used: rsync."}},
		"an address, and no name used": {allowing(report.DeclaredScope{Egress: []string{"10.0.0.0/8"}}),
			[]string{"egress that nothing in this audit used: 10.0.0.0/8."}},
		"tried is used": {allowing(report.DeclaredScope{WritePaths: []string{"/data/"}},
			profile.Effect{Fact: profile.Fact{Kind: profile.KindAttempt, Path: "/data/a", Error: "EACCES"}, Where: call}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, d := range findUnused(tc.in) {
				got = append(got, strings.TrimPrefix(d.message, "The declared scope has entries in "))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}

// A finding quotes where the scope says it.
func TestWhose(t *testing.T) {
	of := report.Capability{Kind: report.CapabilityTool, Name: "a"}
	for want, clause := range map[string]scope.Clause{
		`the declared scope says that it may write nothing`: {Source: report.ScopeSpec, Field: "writePaths", Means: "may write nothing"},
		`its server.json says "Works offline."`:             {Source: report.ScopeServerJSON, Field: "description", Quote: "Works offline."},
		`its annotations say "readOnlyHint: true"`:          {Source: report.ScopeAnnotation, Capability: of, Field: "annotations.readOnlyHint", Quote: "readOnlyHint: true"},
		`its description says "Purely local."`:              {Source: report.ScopeText, Capability: of, Field: "description", Quote: "Purely local."},
	} {
		if got := whose(clause, of); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
