package exposure_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/exposure"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

var (
	tool = report.Capability{Kind: report.CapabilityTool, Name: "use"}
	call = ledger.Where{Phase: report.PhaseCall, Capability: tool, Attribution: report.AttributionInFlight}
	idle = ledger.Where{Phase: report.PhaseIdle, Capability: report.Capability{Kind: report.CapabilityServer}}
)

// seen returns the observation of a server whose only tool was called with some arguments:
// "path=/tmp/x", "given url=https://x.test/".
func seen(arguments ...string) exposure.Seen {
	m := manifest.Manifest{
		ServerName: json.RawMessage(`"server"`),
		Tools:      []json.RawMessage{json.RawMessage(`{"name":"use","description":"Uses it."}`)},
	}
	s := exposure.Seen{Input: rules.Input{
		Manifest: m, Scope: scope.Read(m, scope.Given{}), Home: "/home/audit", Command: []string{"/usr/bin/server"},
		Arguments: map[report.Capability][]rules.Argument{}, End: time.Unix(1, 0),
	}}
	for _, text := range arguments {
		text, given := strings.CutPrefix(text, "given ")
		field, value, _ := strings.Cut(text, "=")
		s.Arguments[tool] = append(s.Arguments[tool], rules.Argument{Field: field, Value: value, Given: given})
	}
	return s
}

func file(kind profile.Kind, name string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: kind, Path: name, Operation: "openat"}, Where: call, Detail: name}
}

func run(argv ...string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: profile.KindExec, Path: argv[0], Argv: profile.NewArgv(argv...), Operation: "execve"}, Where: call}
}

func connect(host, address string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: profile.KindConnect, Protocol: "tcp", Address: address, Port: 443, Host: host}, Where: call}
}

// lines returns items as "kind reach argument | bound".
func lines(e report.Exposure) (all []string) {
	for _, i := range e.Items {
		text := strings.TrimSpace(fmt.Sprintf("%s %s %s", i.Kind, i.Reach, i.Argument))
		if i.Bound != "" {
			text += " | " + i.Bound
		}
		if i.Basis != report.BasisProven {
			text += " | " + string(i.Basis)
		}
		all = append(all, text)
	}
	return all
}

const (
	note    = "/tmp/marlow-c3-note.txt"
	outside = "/var/tmp/marlow-elsewhere/note.txt"
)

func TestOf(t *testing.T) {
	for name, tc := range map[string]struct {
		seen    exposure.Seen
		effects []profile.Effect
		want    []string
	}{
		"nothing": {seen: seen("text=A short note.")},
		"a file by its whole name": {seen("path=" + note), []profile.Effect{file(profile.KindRead, note)},
			[]string{"FileRead Arbitrary path"}},
		"what lies below a directory": {seen("dir=/tmp/marlow-files"), []profile.Effect{file(profile.KindRead, "/tmp/marlow-files/a/b")},
			[]string{"FileRead Arbitrary dir"}},
		"a file beside it": {seen("path=" + note), []profile.Effect{file(profile.KindWrite, note+".tmp"), file(profile.KindDelete, note+"2")},
			[]string{"FileWrite Arbitrary path"}},
		"a file of the server's where the audit makes up paths": {seen("folder=/tmp"), []profile.Effect{file(profile.KindRead, "/tmp/server/tokens.json")}, nil},
		"a stand-in for a program":                              {seen(), []profile.Effect{file(profile.KindRead, "/run/marlow-local/run")}, nil},
		"the directory above it":                                {seen("path=" + note), []profile.Effect{file(profile.KindList, "/tmp")}, nil},
		"a name below the server's directory": {seen("title=marlow-c3"), []profile.Effect{file(profile.KindWrite, "/data/notes/marlow-c3.md")},
			[]string{"FileWrite Partial title | below /data/notes"}},
		"a short word is a coincidence": {seen("sort=db"), []profile.Effect{file(profile.KindRead, "/opt/app/data/db")},
			[]string{"FileRead Fixed | /opt/app/data/db"}},
		"a path that the server may have offered": {seen("path=/data/a.txt"), []profile.Effect{file(profile.KindRead, "/data/a.txt")},
			[]string{"FileRead Partial path | below /data"}},
		"a path of the operator's": {seen("given path=/data/a.txt"), []profile.Effect{file(profile.KindRead, "/data/a.txt")},
			[]string{"FileRead Arbitrary path"}},
		"within the directory on the command line": {with(seen("path="+note), func(s *exposure.Seen) { s.Command = append(s.Command, "/tmp") }),
			[]profile.Effect{file(profile.KindRead, note)}, []string{"FileRead Partial path | below /tmp (command line)"}},
		"within the directory of a variable": {with(seen("path="+note), func(s *exposure.Seen) { s.Dirs = []string{"/tmp"} }),
			[]profile.Effect{file(profile.KindRead, note)}, []string{"FileRead Partial path | below /tmp (environment)"}},
		"out of it": {with(seen("path="+note, "path=../../var/tmp/marlow-elsewhere/note.txt"), func(s *exposure.Seen) { s.Dirs = []string{"/tmp"} }),
			[]profile.Effect{file(profile.KindRead, note), file(profile.KindRead, outside)}, []string{"FileRead Arbitrary path"}},
		"outside, and no argument led there": {seen("path=" + note), []profile.Effect{file(profile.KindRead, outside)}, nil},
		"an attempt":                         {seen("path=" + note), []profile.Effect{failed(file(profile.KindRead, note))}, nil},
		"its own files":                      {seen(), []profile.Effect{file(profile.KindRead, "/usr/share/dict/words"), file(profile.KindWrite, "/tmp/x")}, nil},
		"in no call":                         {seen("path=" + note), []profile.Effect{at(idle, file(profile.KindRead, note))}, nil},
		"what an earlier call may have done": {seen("path=" + note), []profile.Effect{unsure(file(profile.KindRead, "/srv/data/x"))}, nil},
		"a command line": {seen("command=echo marlow-c1"), []profile.Effect{run("/bin/sh", "-c", "echo marlow-c1")},
			[]string{"CommandExecution Arbitrary command"}},
		"a command without a shell": {seen("command=echo marlow-c1"), []profile.Effect{run("/bin/echo", "marlow-c1")},
			[]string{"CommandExecution Arbitrary command"}},
		"a command of a list": {seen("command=date"), []profile.Effect{run("/bin/sh", "-c", "date")},
			[]string{"CommandExecution Partial command | sh"}},
		"a value within a text for a shell": {seen("host=marlow-c1.example"), []profile.Effect{run("/bin/sh", "-c", "ping -c 1 marlow-c1.example")},
			[]string{"CommandExecution Partial host | sh"}},
		"an argument of a program": {seen("path=" + note), []profile.Effect{run("/usr/bin/git", "log", "--", note)},
			[]string{"CommandExecution Partial path | git"}},
		"a program":             {seen("limit=10"), []profile.Effect{run("/usr/bin/git", "log", "-n", "10")}, []string{"CommandExecution Fixed | git"}},
		"what a program starts": {seen("path=" + note), []profile.Effect{within(run("/usr/bin/less", note))}, nil},
		"an injected command": {seen("path=x$(./marlow-run-c4)"), []profile.Effect{failed(run("/tmp/marlow-run-c4"))},
			[]string{"CommandExecution Arbitrary path"}},
		"code for an interpreter": {seen("code=1 + 1"), []profile.Effect{run("/usr/bin/python3", "-c", "1 + 1")},
			[]string{"CodeExecution Arbitrary code"}},
		"a script of the call": {seen("code=1 + 1"), []profile.Effect{file(profile.KindWrite, "/srv/x/s.py"), run("/usr/bin/python3", "/srv/x/s.py")},
			[]string{"CodeExecution Arbitrary code", "FileWrite Fixed | /srv/x/s.py"}},
		"a script of the server's": {seen("text=1 + 1"), []profile.Effect{run("/usr/bin/python3", "/srv/x/s.py")},
			[]string{"CommandExecution Fixed | python3"}},
		"the host of a URL": {seen("url=https://c2.pages.example.net/x"), []profile.Effect{connect("c2.pages.example.net", "28.0.0.1")},
			[]string{"NetworkEgress Arbitrary url"}},
		"a host of its own": {seen("url=https://c2.pages.example.net/x"), []profile.Effect{connect("api.example.com", "28.0.0.1")},
			[]string{"NetworkEgress Fixed | api.example.com"}},
		"this machine": {seen(), []profile.Effect{connect("", "127.0.0.1")}, nil},
		"a database in a file": {seen("sql=SELECT * FROM notes"), []profile.Effect{file(profile.KindRead, "/srv/x/a.db")},
			[]string{"DatabaseQuery Partial sql | /srv/x/a.db", "FileRead Fixed | /srv/x/a.db"}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.seen.Profile.Effects = tc.effects
			if diff := cmp.Diff(tc.want, lines(exposure.Of(tc.seen))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOfTraffic(t *testing.T) {
	sent := func(protocol, host, request, data string) exposure.Sent {
		return exposure.Sent{Capability: tool, Protocol: protocol, Host: host, Request: request, Data: data}
	}
	for name, tc := range map[string]struct {
		seen exposure.Seen
		sent exposure.Sent
		want []string
	}{
		"a whole statement": {seen("sql=SELECT * FROM notes"), sent("postgres", "db", "", "Q\x00SELECT * FROM notes\x00"), []string{"DatabaseQuery Arbitrary sql"}},
		"a value in one": {seen("title=marlow-c1"), sent("mysql", "db", "", "SELECT * FROM notes WHERE title = 'marlow-c1'"),
			[]string{"DatabaseQuery Partial title | db"}},
		"a statement of its own": {seen("title=x"), sent("mysql", "db", "", "SELECT * FROM notes"), []string{"DatabaseQuery Fixed | db"}},
		"a session that begins":  {seen(), sent("postgres", "db", "", "SET client_encoding TO 'UTF8'"), nil},
		"a mail to whom an argument names": {seen("to=probe@c1.pages.example.net"), sent("smtp", "mail.example", "MAIL FROM:<a@b> RCPT TO:<probe@c1.pages.example.net>", ""),
			[]string{"Messaging Arbitrary to"}},
		"a mail to somebody": {seen("text=marlow-c1"), sent("smtp", "mail.example", "RCPT TO:<me@b.example>", "marlow-c1"), []string{"Messaging Fixed | mail.example"}},
		"a chat": {seen("text=A note (marlow-c1)."), sent("https", "hooks.slack.com", "POST /services/x HTTP/1.1", `{"text":"A note (marlow-c1)."}`),
			[]string{"Messaging Partial text | hooks.slack.com"}},
		"a path on a host": {seen("id=marlow-c1"), sent("https", "api.example.com", "GET /notes/marlow-c1 HTTP/1.1", ""),
			[]string{"NetworkEgress Partial id | api.example.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.seen.Sent = []exposure.Sent{tc.sent}
			if diff := cmp.Diff(tc.want, lines(exposure.Of(tc.seen))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOfContentAndSecrets(t *testing.T) {
	s := seen("url=https://c2.pages.example.net/x", "name=~/.ssh/id_rsa")
	s.Profile.Effects = []profile.Effect{connect("c2.pages.example.net", "28.0.0.1")}
	s.Outputs = rules.Said("", report.Output{Kind: report.OutputResult, Capability: tool, Method: "tools/call", Text: "<p>This page is a placeholder.</p>"})
	s.Leaks = []leak.Leak{
		{Where: call, Channel: leak.Answer, Decoy: decoy.ID{Name: "/home/audit/.ssh/id_rsa"}},
		{Where: call, Channel: "HTTPS", Home: true, Decoy: decoy.ID{Name: "API_KEY", Variable: true}},
	}
	got := exposure.Of(s)
	want := []string{"NetworkEgress Arbitrary url", "UntrustedContent Arbitrary url", "Secrets Partial name | /home/audit/.ssh/id_rsa"}
	if diff := cmp.Diff(want, lines(got)); diff != "" {
		t.Error(diff)
	}
	var names []report.CombinationName
	for _, c := range got.Combinations {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]report.CombinationName{report.CombinationLethalTrifecta, report.CombinationSecretsAndEgress}, names); diff != "" {
		t.Error(diff)
	}
}

func TestOfDeclared(t *testing.T) {
	s := seen()
	s.Manifest.Tools = []json.RawMessage{json.RawMessage(`{"name":"use","description":"Runs a shell command."}`)}
	s.Scope = scope.Read(s.Manifest, scope.Given{})
	s.Exercise = []report.CapabilityCoverage{{Kind: report.CapabilityTool, Name: "use", Calls: report.Share{Total: 2}, Branches: report.Share{Total: 1}}}
	if diff := cmp.Diff([]string{"CommandExecution Partial | Declared"}, lines(exposure.Of(s))); diff != "" {
		t.Error(diff)
	}
	s.Exercise[0].Calls.Done = 1
	if got := lines(exposure.Of(s)); got != nil {
		t.Errorf("what was watched, and did not happen, is an exposure: %v", got)
	}
	s.Untraced = true
	if got := lines(exposure.Of(s)); len(got) != 1 {
		t.Errorf("what nobody could watch: %v", got)
	}
}

func with(s exposure.Seen, change func(*exposure.Seen)) exposure.Seen {
	change(&s)
	return s
}

func at(where ledger.Where, e profile.Effect) profile.Effect {
	e.Where = where
	return e
}

func failed(e profile.Effect) profile.Effect {
	e.Error = "ENOENT"
	return e
}

func within(e profile.Effect) profile.Effect {
	e.Within = "/usr/bin/git"
	return e
}

func unsure(e profile.Effect) profile.Effect {
	e.AlternativeCause = report.Capability{Kind: report.CapabilityTool, Name: "other"}
	return e
}
