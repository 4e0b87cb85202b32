package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/profile"
)

const (
	letter     = home + "/Documents/letter.md"
	knownHosts = home + "/.ssh/known_hosts"
)

// lettered is an input where the user has a letter.
func lettered(of server, effects ...profile.Effect) Input {
	in := fileLaunch(input(of, effects...), "", "node", home+"/pkg/index.js")
	in.Belongings = []string{letter}
	return in
}

func TestPersonal(t *testing.T) {
	of := func(text string) server { return server{name: "x", tools: []string{"format_note: " + text}} }
	tells := of("Formats a markdown text. Purely local.")
	by := func(program string, e profile.Effect) profile.Effect {
		e.Program = program
		return e
	}
	descriptors, mine := lists(call, "/proc/7/fd")[0], lists(call, "/proc/self/fd")[0]
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"a letter":              {lettered(tells, read(call, letter)), "FILE-007 High: Tool format_note read /home/audit/Documents/letter.md (a file of the user's), which nothing in its declaration speaks of"},
		"while idle":            {lettered(tells, read(idle, letter)), "FILE-007 High: While idle, the server read"},
		"who reads files":       {lettered(of("Reads a file."), read(call, letter)), ""},
		"who has a vault":       {lettered(of("Lists the vault."), read(call, letter)), ""},
		"not the user's":        {lettered(tells, read(call, home+"/Documents/other.md")), ""},
		"asked for":             {fileArguments(lettered(tells, read(call, letter)), letter), ""},
		"in its directory":      {fileLaunch(lettered(tells, read(call, letter)), home, "node", home+"/pkg/index.js"), ""},
		"on its command line":   {fileLaunch(lettered(tells, read(call, letter)), "", "node", "index.js", home+"/Documents"), ""},
		"by an option":          {fileLaunch(lettered(tells, read(call, letter)), "", "node", "index.js", "--root", home+"/Documents"), ""},
		"hosts of SSH":          {lettered(tells, read(call, knownHosts)), "FILE-007 High: Tool format_note read /home/audit/.ssh/known_hosts (the hosts that the user logs in to by SSH)"},
		"hosts of SSH, by cat":  {lettered(tells, by("/usr/bin/cat", read(call, knownHosts))), "FILE-007 High"},
		"hosts of SSH, by SSH":  {lettered(tells, by("/usr/bin/ssh", read(call, knownHosts))), ""},
		"hosts of SSH, for it":  {lettered(of("Deploys the page to the SFTP server at files.example.org."), read(call, knownHosts)), ""},
		"descriptors":           {lettered(tells, descriptors), "FILE-007 High: Tool format_note read /proc/7/fd (what another process has open)"},
		"its own descriptors":   {lettered(tells, mine), ""},
		"descriptors, by lsof":  {lettered(tells, by("/usr/bin/lsof", descriptors)), ""},
		"descriptors, declared": {lettered(of("Shows which process listens on a port."), descriptors), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, tc.in, tc.want) })
	}
	over22 := lettered(tells, read(call, knownHosts), profile.Effect{Fact: profile.Fact{Kind: profile.KindConnect, Protocol: "tcp", Address: "192.0.2.1", Port: portSSH}, Where: call})
	for _, d := range findPersonal(over22) {
		t.Errorf("who connects to port 22: %s", d.message)
	}
}

var _ = prove(map[string]proof{"MCPA-FILE-007": {
	finds:  []Input{lettered(silent, read(call, letter))},
	spares: []Input{lettered(silent, read(call, home+"/Documents/mine.md"))},
}})
