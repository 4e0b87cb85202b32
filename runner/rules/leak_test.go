package rules

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/leak"
)

var (
	stolen   = decoy.ID{Name: home + "/.ssh/id_rsa"}
	variable = decoy.ID{Variable: true, Name: "GITHUB_TOKEN"}
)

func gone(of decoy.ID, by leak.Channel, to string) leak.Leak {
	return leak.Leak{Where: call, Decoy: of, Channel: by, Destination: to, Encoding: "plain", Excerpt: "key=abcd…yz", Count: 1}
}

// environment are four variables that went one way.
func environment(by leak.Channel, to string) (all []leak.Leak) {
	for _, name := range []string{"A", "B", "C", "D"} {
		all = append(all, gone(decoy.ID{Variable: true, Name: name}, by, to))
	}
	return all
}

func TestLeaks(t *testing.T) {
	teller := server{name: "debug", tools: []string{"format_note: Returns all environment variables, helpful for debugging."}}
	agent := server{name: "keys", tools: []string{"format_note: Manages your SSH keys."}}
	home := gone(variable, "HTTPS", "api.github.com:443")
	home.Home = true
	encoded := gone(stolen, leak.DNS, "evil.example")
	encoded.Encoding = "gzip+hex"
	idly := gone(stolen, "TCP", "93.184.216.34:80")
	idly.Where = idle
	failed := gone(variable, leak.Answer, "")
	failed.Refused, failed.Excerpt = true, "request to https://api.github.com/search?q=milk&token=abcd…yz"
	unsent := failed
	unsent.Unsent = true
	linked := failed
	linked.Refused = false
	logged := linked
	logged.Channel = leak.Stderr
	settings := decoy.ID{Name: "/home/audit/.env"}
	for name, tc := range map[string]struct {
		server  server
		leaks   []leak.Leak
		want    report.Severity // "" for no finding
		message string
	}{
		"over TCP": {local, []leak.Leak{gone(stolen, "TCP", "93.184.216.34:80")}, report.SeverityCritical,
			"Tool format_note sent to 93.184.216.34:80 over TCP the decoy secret /home/audit/.ssh/id_rsa (an SSH key), as it is."},
		"in names": {local, []leak.Leak{encoded}, report.SeverityCritical,
			"Tool format_note looked up names below evil.example that hold the decoy secret /home/audit/.ssh/id_rsa (an SSH key), encoded as gzip+hex."},
		"while idle": {local, []leak.Leak{idly}, report.SeverityCritical,
			"While idle, the server sent to 93.184.216.34:80 over TCP the decoy secret /home/audit/.ssh/id_rsa (an SSH key), as it is."},
		"many at once": {silent, []leak.Leak{
			gone(variable, "HTTP", "x:80"), gone(stolen, "HTTP", "x:80"), gone(decoy.ID{Variable: true, Name: "A"}, "HTTP", "x:80"),
			gone(decoy.ID{Variable: true, Name: "B"}, "HTTP", "x:80"),
		}, report.SeverityCritical,
			"Tool format_note sent to x:80 over HTTP the decoy secrets $GITHUB_TOKEN, /home/audit/.ssh/id_rsa (an SSH key), $A and 1 more, as it is."},
		"all the environment": {silent, environment("HTTP", "x:80"), report.SeverityCritical,
			"Tool format_note sent to x:80 over HTTP the decoy secrets $A, $B, $C and 1 more, as it is."},
		"all the environment, in an answer": {silent, environment(leak.Answer, ""), report.SeverityCritical,
			"Tool format_note gave away in its answer the decoy secrets $A, $B, $C and 1 more, as it is."},
		"all the environment, in a log":                 {silent, environment(leak.Stderr, ""), report.SeverityHigh, "wrote to stderr"},
		"all the environment, from who tells it":        {teller, environment(leak.Answer, ""), "", ""},
		"all the environment, for a program of its own": {silent, environment(leak.Environment, "/bin/sh"), "", ""},
		"all the environment, sent off by who tells it": {teller, environment("HTTP", "x:80"), report.SeverityCritical, "over HTTP"},
		"a declared use does not cover the network":     {agent, []leak.Leak{gone(stolen, "TCP", "x:80")}, report.SeverityCritical, "over TCP"},
		"in the arguments of a program":                 {silent, []leak.Leak{gone(variable, leak.Argv, "/usr/bin/curl")}, report.SeverityCritical, "started /usr/bin/curl with, in its arguments, the decoy secret $GITHUB_TOKEN, as it is."},
		"through a unix socket":                         {silent, []leak.Leak{gone(variable, leak.UnixSocket, "/run/docker.sock")}, report.SeverityCritical, "unix socket /run/docker.sock"},
		"a key on stderr":                               {silent, []leak.Leak{gone(stolen, leak.Stderr, "")}, report.SeverityCritical, "wrote to stderr"},
		"a variable on stderr":                          {silent, []leak.Leak{gone(variable, leak.Stderr, "")}, report.SeverityHigh, "wrote to stderr"},
		"in a file":                                     {silent, []leak.Leak{gone(stolen, leak.File, "/tmp/x")}, report.SeverityHigh, "stored in /tmp/x"},
		"a key in an environment":                       {silent, []leak.Leak{gone(stolen, leak.Environment, "/bin/sh")}, report.SeverityHigh, "in its environment"},
		"an environment file's, inherited":              {silent, []leak.Leak{gone(settings, leak.Environment, "/usr/bin/uname")}, "", ""},
		"an environment file's, sent off":               {silent, []leak.Leak{gone(settings, leak.Environment, "/usr/bin/uname"), gone(settings, "HTTP", "x:80")}, report.SeverityCritical, "over HTTP"},
		"a variable by another name":                    {silent, []leak.Leak{gone(variable, leak.Environment, "/bin/sh")}, "", ""},
		"to whom it is for":                             {silent, []leak.Leak{home}, "", ""},
		"in the error of a request to whom it is for":   {silent, []leak.Leak{failed, home}, report.SeverityMedium, "gave away in its answer"},
		"in the log of a request to whom it is for":     {silent, []leak.Leak{logged, home}, report.SeverityMedium, "wrote to stderr"},
		"in a log, and it goes nowhere else":            {silent, []leak.Leak{logged}, report.SeverityHigh, "wrote to stderr"},
		"in an error, and it could go nowhere":          {local, []leak.Leak{unsent}, report.SeverityMedium, "gave away in its answer"},
		"in an error, and it goes nowhere else":         {silent, []leak.Leak{failed}, report.SeverityCritical, ""},
		"in an address that no error names":             {silent, []leak.Leak{linked, home}, report.SeverityCritical, ""},
		"in an answer":                                  {silent, []leak.Leak{gone(variable, leak.Answer, "")}, report.SeverityCritical, "gave away in its answer"},
		"in the answer of who tells the environment":    {teller, []leak.Leak{gone(variable, leak.Answer, "")}, "", ""},
		"a key there":                                   {teller, []leak.Leak{gone(stolen, leak.Answer, "")}, report.SeverityCritical, ""},
		"a key in the answer of who has keys":           {agent, []leak.Leak{gone(stolen, leak.Answer, "")}, "", ""},
	} {
		got := Judge(Input{Scope: tc.server.scope(), Leaks: tc.leaks})
		if tc.want == "" {
			if len(got) > 0 {
				t.Errorf("%s: %+v", name, got)
			}
			continue
		}
		rule := "MCPA-SECRET-002"
		switch {
		case strings.HasPrefix(name, "all the environment"):
			rule = "MCPA-SECRET-004"
		case tc.leaks[0].Channel == leak.Answer:
			rule = "MCPA-SECRET-003"
		}
		if len(got) != 1 || got[0].Rule != rule || got[0].Severity != tc.want || !strings.Contains(got[0].Message, tc.message) {
			t.Errorf("%s: %+v", name, got)
		} else if len(got[0].Evidence) == 0 || !strings.Contains(got[0].Evidence[0].Detail, "abcd…yz") {
			t.Errorf("%s: evidence %+v", name, got[0].Evidence)
		}
	}
}

// TestLeaksApart: one finding for each way, and for each call.
func TestLeaksApart(t *testing.T) {
	other := gone(stolen, "TCP", "x:80")
	other.Where = startup
	got := Judge(Input{Scope: local.scope(), Leaks: []leak.Leak{
		gone(stolen, "TCP", "x:80"), gone(variable, "TCP", "x:80"), gone(stolen, "TCP", "y:80"), other, gone(stolen, leak.File, "/tmp/x"),
	}})
	if len(got) != 4 || len(got[0].Evidence) != 2 || got[3].Severity != report.SeverityHigh {
		t.Errorf("%+v", got)
	}
}

// What goes wherever an argument leads is one leak, however many calls led it elsewhere.
func TestLeakToWhereArgumentsLead(t *testing.T) {
	first := gone(variable, "HTTPS", inputs.Mark{Call: 4}.Host()+":443")
	got := Judge(Input{Scope: local.scope(), Leaks: []leak.Leak{first, gone(variable, "HTTPS", inputs.Mark{Call: 61}.Host()+":443"), gone(variable, "HTTPS", "evil.test:443")}})
	if len(got) != 2 || len(got[0].Evidence) != 2 || strings.Count(got[0].Message, "GITHUB_TOKEN") != 1 {
		t.Errorf("%+v", got)
	}
}

// A dump of the environment does not hide a file that went the same way.
func TestDumpAndFile(t *testing.T) {
	got := Judge(Input{Scope: silent.scope(), Leaks: append(environment(leak.Answer, ""), gone(stolen, leak.Answer, ""))})
	if len(got) != 2 || got[0].Rule != "MCPA-SECRET-003" || got[1].Rule != "MCPA-SECRET-004" {
		t.Errorf("%+v", got)
	}
}

var _ = prove(map[string]proof{
	"MCPA-SECRET-003": {
		finds: altered(func(in *Input) { in.Leaks = []leak.Leak{gone(variable, leak.Answer, "")} }),
		spares: altered(func(in *Input) {
			in.Leaks = []leak.Leak{gone(variable, leak.Answer, "")}
			in.Scope = server{tools: []string{"format_note: Returns all environment variables."}}.scope()
		}),
	},
	"MCPA-SECRET-004": {
		finds:  altered(func(in *Input) { in.Leaks = environment(leak.Answer, "") }),
		spares: altered(func(in *Input) { in.Leaks = environment(leak.Answer, "")[:3] }),
	},
})
