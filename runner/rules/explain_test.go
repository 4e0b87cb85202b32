package rules

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// calledWith is an Input whose tool format_note was called with some values: "url=https://...".
func calledWith(in Input, arguments ...string) Input {
	of := call.Capability
	in.Arguments = map[report.Capability][]Argument{}
	for _, a := range arguments {
		field, value, _ := strings.Cut(a, "=")
		field, given := strings.CutPrefix(field, "given ")
		in.Arguments[of] = append(in.Arguments[of], Argument{Field: field, Value: value, Given: given})
	}
	in.Home = home
	return in
}

func TestExplains(t *testing.T) {
	const marked = "c12.pages.example.net"
	reached := func(host string) profile.Effect {
		return with(connect(call, "tcp", "28.18.7.7", 443), func(e *profile.Effect) { e.Host = host })
	}
	on := func(kind profile.Kind, path string) profile.Effect {
		return with(read(call, path), func(e *profile.Effect) { e.Kind = kind })
	}
	behind := func(e profile.Effect, by report.Attribution) profile.Effect {
		e.Where = ledger.Where{Phase: report.PhaseCall, Capability: report.Capability{Kind: report.CapabilityTool, Name: "other"},
			Attribution: by, AlternativeCause: call.Capability}
		return e
	}
	for name, tc := range map[string]struct {
		argument string
		effect   profile.Effect
		want     bool
	}{
		"a URL's host":                     {"url=https://" + marked + "/notes", reached(marked), true},
		"looked up":                        {"url=https://" + marked + "/notes", lookupOf(call, marked), true},
		"below it":                         {"url=https://" + marked + "/notes", lookupOf(call, "www."+marked), true},
		"with a search domain":             {"url=https://" + marked + "/notes", lookupOf(call, marked+".corp.example"), true},
		"with another's domain":            {"url=https://" + marked + "/notes", lookupOf(call, marked+".evil.test"), false},
		"an e-mail's host":                 {"to=probe@" + marked, lookupOf(call, marked), true},
		"a host and port":                  {"host=" + marked + ":8443", reached(marked), true},
		"in a command":                     {"command=curl -s 'https://" + marked + "/x'", reached(marked), true},
		"of another call of the tool":      {"url=https://c11.pages.example.net/", reached(marked), false},
		"made up by the server":            {"url=https://" + marked, with(reached(marked), func(e *profile.Effect) { e.Address = "93.184.216.34" }), false},
		"at idle":                          {"url=https://" + marked, with(reached(marked), func(e *profile.Effect) { e.Where = idle }), false},
		"what it left behind":              {"url=https://" + marked, behind(reached(marked), report.AttributionInFlight), true},
		"a reserved address":               {"ip=192.0.2.13", connect(call, "tcp", "192.0.2.13", 80), true},
		"a reserved address, IPv6":         {"ip=[2001:db8::d]:80", connect(call, "tcp", "2001:db8::d", 80), true},
		"another address":                  {"ip=192.0.2.13", connect(call, "tcp", "192.0.2.14", 80), false},
		"a host that the server has named": {"region=eu.evil.test", reached("eu.evil.test"), false},
		"one that the operator gave":       {"given region=eu.corp.test", reached("eu.corp.test"), true},
		"below one that he gave":           {"given region=eu.corp.test", reached("x.eu.corp.test"), false},

		"a file":               {"path=/tmp/marlow-files/note.txt", on(profile.KindRead, "/tmp/marlow-files/note.txt"), true},
		"its directory":        {"path=/tmp/marlow-files/note.txt", on(profile.KindList, "/tmp/marlow-files"), true},
		"its directory, gone":  {"path=/tmp/marlow-files/note.txt", on(profile.KindDelete, "/tmp/marlow-files"), false},
		"beside it":            {"path=/tmp/marlow-files/note.txt", on(profile.KindRead, "/tmp/marlow-files/todo.md"), false},
		"on the way to it":     {"path=/tmp/marlow-files/note.txt", on(profile.KindWrite, "/tmp/marlow-files/note.txt.1f.tmp"), true},
		"hidden, on the way":   {"path=/tmp/marlow-files/note.txt", on(profile.KindWrite, "/tmp/marlow-files/.note.txt.swp"), true},
		"a longer name":        {"path=/tmp/marlow-files/note", on(profile.KindRead, "/tmp/marlow-files/notebook"), false},
		"below a directory":    {"path=/tmp/marlow-files", on(profile.KindRead, "/tmp/marlow-files/a/b"), true},
		"relative":             {"path=marlow-files/note.txt", on(profile.KindRead, "/tmp/marlow-files/note.txt"), true},
		"a file URL":           {"uri=file:///tmp/marlow-files/note.txt", on(profile.KindRead, "/tmp/marlow-files/note.txt"), true},
		"upwards":              {"path=../etc/passwd", on(profile.KindRead, "/etc/passwd"), false},
		"upwards, absolute":    {"path=/tmp/../etc/passwd", on(profile.KindRead, "/etc/passwd"), false},
		"the server's choice":  {"path=/etc/passwd", on(profile.KindRead, "/etc/passwd"), false},
		"the operator's":       {"given path=/etc/passwd", on(profile.KindRead, "/etc/passwd"), true},
		"the operator's, home": {"given path=~/notes", on(profile.KindRead, home+"/notes/a"), true},
		"the root":             {"given path=/", on(profile.KindRead, "/etc/shadow"), false},

		"a command":              {"command=ls -la", run(call, "/bin/ls", "ls", "-la"), true},
		"by a shell":             {"command=ls  -la", run(call, "/bin/sh", "sh", "-c", "ls -la"), true},
		"in one":                 {"command=cd /tmp && ls -la", run(call, "/bin/ls", "ls", "-la"), true},
		"another command":        {"command=ls -la", run(call, "/bin/sh", "sh", "-c", "ls -la; id"), false},
		"a word of a text":       {"text=sh is a shell", run(call, "/bin/sh", "sh", "-c", "id"), false},
		"an argument of another": {"path=/tmp/x", run(call, "/bin/sh", "sh", "-c", "convert /tmp/x"), false},
	} {
		in := calledWith(input(silent, tc.effect), tc.argument)
		if a, got := in.Reading().Explains(in.Profile.Canonical(in.Search).Effects[0]); got != tc.want {
			t.Errorf("%s: explained %v by %+v, want %v", name, got, a, tc.want)
		}
	}
}

// What the declaration of an argument denies, the argument does not explain.
func TestDeniedByParameter(t *testing.T) {
	fetched := with(connect(call, "tcp", "28.18.7.7", 443), func(e *profile.Effect) { e.Host = "c12.pages.example.net" })
	ran := run(call, "/bin/sh", "sh", "-c", "ls -la")
	for _, tc := range []struct {
		says, argument string
		effect         profile.Effect
		want           bool
	}{
		{"A local file; no URLs are fetched.", "in.src=https://c12.pages.example.net/", fetched, false},
		{"A local file. URLs are never downloaded.", "in.src=https://c12.pages.example.net/", fetched, false},
		{"The URL is only stored.", "in.src=https://c12.pages.example.net/", fetched, false},
		{"The URL to fetch, without the URL's fragment. Must not be empty.", "in.src=https://c12.pages.example.net/", fetched, true},
		{"URLs are only stored.", "in.src=https://c12.pages.example.net/", fetched, false},
		{"The page to load. No JavaScript is run. Fetches the page.", "in.src=https://c12.pages.example.net/", fetched, true},
		{"The code to show; it is never executed and is not run.", "in.src=ls -la", ran, false},
		{"The code to run.", "in.src=ls -la", ran, true},
	} {
		in := calledWith(input(silent, tc.effect), tc.argument)
		text, err := json.Marshal(tc.says)
		if err != nil {
			t.Fatal(err)
		}
		in.Manifest = manifest.Manifest{Tools: []json.RawMessage{json.RawMessage(
			`{"name":"format_note","inputSchema":{"properties":{"in":{"properties":{"src":{"description":` + string(text) + `}}}}}}`)}}
		if _, got := in.Reading().Explains(tc.effect); got != tc.want {
			t.Errorf("%q: explained %v, want %v", tc.says, got, tc.want)
		}
	}
}

// Whatever an argument holds, what it names is bounded and well formed.
func FuzzArgument(f *testing.F) {
	for _, seed := range []string{"https://u:p@c1.pages.example.net:8/x?y", "a@b.example", "[2001:db8::1]:80", "~/x", "file:///tmp/..", "../../x",
		"cd /tmp && sudo ls; $(id)", "fe80::1%eth0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, host := range hosts(text) {
			if strings.ContainsAny(host, "/ @") {
				t.Errorf("a host %q", host)
			}
		}
		for _, name := range pathsIn(text, home) {
			if !strings.HasPrefix(name, "/") || strings.Contains(name+"/", "/../") || name == "/" {
				t.Errorf("a path %q", name)
			}
		}
		for _, name := range programsIn(text) {
			if strings.Contains(name, "/") {
				t.Errorf("a program %q", name)
			}
		}
	})
}
