package rules

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/leak"
)

func depends(on decoy.ID, by leak.Channel, to string) Dependence {
	l := gone(on, by, to)
	l.Encoding, l.Excerpt = "unknown", "id=8AU1HYgBk"
	return Dependence{Leak: l, Other: "id=vY9vgDqru"}
}

func TestDependences(t *testing.T) {
	home := depends(variable, "HTTPS", "api.github.com:443")
	home.Home = true
	agent := server{name: "keys", tools: []string{"format_note: Manages your SSH keys."}}
	for name, tc := range map[string]struct {
		server server
		what   Dependence
		leaks  []leak.Leak
		found  string // "" for no finding
	}{
		"over HTTP":                  {local, depends(stolen, "HTTP", "x:80"), nil, "Tool format_note sent to x:80 (HTTP) what depends on the decoy secret /home/audit/.ssh/id_rsa (an SSH key): "},
		"in an answer":               {silent, depends(variable, leak.Answer, ""), nil, "sent to its answer what depends on the decoy secret $GITHUB_TOKEN"},
		"in a log":                   {silent, depends(variable, leak.Stderr, ""), nil, "sent to stderr what depends on"},
		"to whom it is for":          {silent, home, nil, ""},
		"an answer of who has keys":  {agent, depends(stolen, leak.Answer, ""), nil, ""},
		"a list of names":            {server{name: "hosts", tools: []string{"format_note: Lists the names of the hosts in ~/.ssh."}}, depends(stolen, leak.Answer, ""), nil, "sent to its answer"},
		"what is denied":             {server{name: "hosts", tools: []string{"format_note: Shows the hosts of SSH. Private keys are never part of the answer, and no key is."}}, depends(stolen, leak.Answer, ""), nil, "sent to its answer"},
		"what is made of a key":      {server{name: "keys", tools: []string{"format_note: The fingerprint of the SSH key."}}, depends(stolen, leak.Answer, ""), nil, ""},
		"a dead drop":                {silent, depends(variable, leak.File, "/var/tmp/.cache"), nil, "sent to the name, size, mode or times of files in /var/tmp/.cache what depends on"},
		"sent off by who has keys":   {agent, depends(stolen, "HTTP", "x:80"), nil, "sent to x:80"},
		"where the secret was found": {silent, depends(variable, leak.Answer, ""), []leak.Leak{gone(variable, leak.Answer, "")}, ""},
	} {
		got := Judge(Input{Scope: tc.server.scope(), Manifest: tc.server.manifest(), Leaks: tc.leaks, Dependences: []Dependence{tc.what}})
		got = got[len(tc.leaks):]
		switch {
		case tc.found == "" && len(got) == 0:
		case len(got) != 1 || tc.found == "" || got[0].Rule != "MCPA-SECRET-006" || !strings.Contains(got[0].Message, tc.found):
			t.Errorf("%s: %+v", name, got)
		case !strings.Contains(got[0].Evidence[0].Detail, "8AU1HYgBk") || !strings.Contains(got[0].Evidence[0].Detail, "vY9vgDqru"):
			t.Errorf("%s: evidence %+v", name, got[0].Evidence)
		}
	}
}

var _ = prove(map[string]proof{
	"MCPA-SECRET-006": {
		finds: altered(func(in *Input) { in.Dependences = []Dependence{depends(variable, "HTTP", "x:80")} }),
		spares: altered(func(in *Input) {
			what := depends(variable, "HTTP", "api.github.com:80")
			what.Home = true
			in.Dependences = []Dependence{what}
		}),
	},
})
