package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

func within(program string, e profile.Effect) profile.Effect { e.Within = program; return e }

// What one program starts is one finding.
func TestPrograms(t *testing.T) {
	worker := run(call, "/usr/bin/python3", "-c", "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5)")
	asks := func(field, value string) func(*Input) {
		return func(in *Input) {
			in.Arguments = map[report.Capability][]Argument{call.Capability: {{Field: field, Value: value}}}
		}
	}
	allow := func(programs ...string) func(*Input) {
		return func(in *Input) {
			in.Scope = scope.Read(manifest.Manifest{}, scope.Given{Allow: &report.DeclaredScope{Exec: programs}})
		}
	}
	as := func(*Input) {}
	const bundledTool = "/srv/node_modules/@devices/cli-linux/cli-linux"
	packed := func(in *Input) { in.Command = []string{"node", "/srv/node_modules/.bin/devices"} }
	shell := func(in *Input) { in.Command = []string{"sh", "/srv/server.sh"} }
	strict := func(in *Input) { packed(in); allow("git")(in) }
	for name, tc := range map[string]struct {
		server  server
		change  func(*Input)
		effects []profile.Effect
		want    string
	}{
		"a pipeline": {silent, as, []profile.Effect{
			run(call, "/bin/sh", "-c", "ls | wc"), within("/bin/sh", run(call, "/bin/ls")), within("/bin/sh", run(call, "/usr/bin/wc")),
		}, "EXEC-001 Medium: Tool format_note started /bin/sh (/bin/sh -c ls | wc)"},
		"a program that it names":        {server{tools: []string{"format_note: Formats notes with gofmt."}}, as, []profile.Effect{run(call, "/usr/bin/gofmt")}, ""},
		"a program that is a verb":       {server{tools: []string{"format_note: Pings the host of a note."}}, as, []profile.Effect{run(call, "/usr/bin/ping", "-c", "1", "x")}, ""},
		"what it needs for what it does": {server{tools: []string{"format_note: Shows how full the disks are."}}, as, []profile.Effect{run(call, "/bin/sh", "-c", "df -h"), within("/bin/sh", run(call, "/usr/bin/df", "-h"))}, ""},
		"that and another": {server{tools: []string{"format_note: Shows how full the disks are."}}, as, []profile.Effect{
			run(call, "/bin/sh", "-c", "df -h; curl x"), within("/bin/sh", run(call, "/usr/bin/df", "-h")), within("/bin/sh", run(call, "/usr/bin/curl", "x")),
		}, "EXEC-001 Medium: Tool format_note started /usr/bin/curl"},
		"a word that is a program, too": {server{tools: []string{"format_note: Cuts notes at a date."}}, as, []profile.Effect{run(call, "/usr/bin/date")}, "EXEC-001 Medium"},
		"called like it":                {server{tools: []string{"format_note: Shows how full the disks are."}}, as, []profile.Effect{stored("/tmp/df"), run(call, "/tmp/df")}, "EXEC-001 Medium"},
		"a browser": {silent, as, []profile.Effect{
			run(call, "/opt/chrome"), within("/opt/chrome", run(call, "/opt/chrome", "--type=zygote")), within("/opt/chrome", run(call, "/bin/cat")),
		}, "EXEC-001 Medium: Tool format_note started /opt/chrome (/opt/chrome)"},
		"what a declared program starts":     {gitty, as, []profile.Effect{run(call, "/usr/bin/git", "fetch"), within("/usr/bin/git", run(call, "/usr/bin/ssh"))}, ""},
		"what a question starts":             {silent, as, []profile.Effect{run(call, "/bin/sh", "-c", "which git"), within("/bin/sh", run(call, "/usr/bin/which", "git"))}, ""},
		"its own script, by all of its path": {silent, as, []profile.Effect{run(startup, "/usr/bin/node", "bin/server.js"), run(call, "/usr/bin/node", "/srv/bin/server.js", "child")}, ""},
		"another script":                     {silent, as, []profile.Effect{run(startup, "/usr/bin/node", "bin/server.js"), run(call, "/usr/bin/node", "/srv/bin/other.js", "child")}, "EXEC-001 Medium"},
		"what it starts by itself, too":      {silent, as, []profile.Effect{run(startup, "/bin/sh", "-c", "tidy -q"), within("/bin/sh", run(startup, "/usr/bin/tidy", "-q")), run(call, "/bin/sh", "-c", "tidy -q"), within("/bin/sh", run(call, "/usr/bin/tidy", "-q"))}, ""},
		"that with other arguments":          {silent, as, []profile.Effect{run(startup, "/bin/sh", "-c", "tidy -q"), run(call, "/bin/sh", "-c", "tidy -x")}, "EXEC-001 Medium"},
		"a shell that reads commands":        {silent, as, []profile.Effect{run(startup, "/bin/sh", "-s"), run(call, "/bin/sh", "-s")}, "EXEC-001 Medium"},
		"a program that it wrote":            {silent, as, []profile.Effect{run(startup, "/tmp/tidy"), stored("/tmp/tidy"), run(call, "/tmp/tidy")}, "EXEC-001 Medium"},
		"a worker":                           {silent, as, []profile.Effect{worker}, ""},
		"what a worker starts":               {silent, as, []profile.Effect{worker, within("/usr/bin/python3", run(call, "/bin/ls"))}, "EXEC-001 Medium: Tool format_note started /bin/ls"},
		"what came with it":                  {silent, packed, []profile.Effect{run(call, bundledTool, "devices")}, ""},
		"what that starts":                   {silent, packed, []profile.Effect{run(call, bundledTool), within(bundledTool, run(call, "/usr/bin/curl", "x"))}, "EXEC-001 Medium: Tool format_note started /usr/bin/curl"},
		"in the tree of another":             {silent, as, []profile.Effect{run(call, bundledTool)}, "EXEC-001 Medium"},
		"a shell that came with it":          {silent, packed, []profile.Effect{run(call, "/srv/node_modules/x/bash", "-c", "ls")}, "EXEC-001 Medium"},
		"put there by itself":                {silent, packed, []profile.Effect{stored(bundledTool), run(call, bundledTool)}, "EXEC-001 Medium"},
		"not in the list, though packed":     {silent, strict, []profile.Effect{run(call, bundledTool)}, "EXEC-001 High"},
		"what a script is made of":           {silent, shell, []profile.Effect{run(call, "/usr/bin/sed", "s/a/b/")}, ""},
		"what a filter starts":               {silent, shell, []profile.Effect{run(call, "/usr/bin/sed", "1e ls"), within("/usr/bin/sed", run(call, "/bin/sh", "-c", "ls"))}, "EXEC-001 Medium: Tool format_note started /bin/sh"},
		"what else a script starts":          {silent, shell, []profile.Effect{run(call, "/usr/bin/curl", "x")}, "EXEC-001 Medium"},
		"one of another place":               {silent, shell, []profile.Effect{run(call, "/tmp/sed", "x")}, "EXEC-001 Medium"},
		"not in the list of a script":        {silent, func(in *Input) { shell(in); allow("git")(in) }, []profile.Effect{run(call, "/usr/bin/sed", "x")}, "EXEC-001 High"},
		"sed in no script":                   {silent, packed, []profile.Effect{run(call, "/usr/bin/sed", "x")}, "EXEC-001 Medium"},
		"a command that it was given":        {silent, asks("command", "ls -la"), []profile.Effect{run(call, "/bin/sh", "-c", "ls -la"), within("/bin/sh", run(call, "/bin/ls", "-la"))}, ""},
		"what a command starts":              {silent, asks("command", "make test"), []profile.Effect{run(call, "/bin/sh", "-c", "make test"), within("/bin/sh", run(call, "/usr/bin/gcc", "x.c"))}, ""},
		"its first word":                     {silent, asks("options.argv[0]", "ls"), []profile.Effect{run(call, "/bin/ls", "-la")}, ""},
		"a text that it was given":           {silent, asks("text", "ls -la"), []profile.Effect{run(call, "/bin/sh", "-c", "ls -la")}, "EXEC-001 Medium"},
		"another command":                    {silent, asks("command", "ls -la"), []profile.Effect{run(call, "/usr/bin/curl", "x")}, "EXEC-001 Medium"},
		"in the list":                        {silent, allow("sh"), []profile.Effect{run(call, "/bin/sh", "-c", "ls"), within("/bin/sh", run(call, "/bin/ls"))}, ""},
		"not in the list":                    {shelly, allow("git"), []profile.Effect{run(call, "/bin/sh", "-c", "ls")}, "EXEC-001 High: Tool format_note started /bin/sh (/bin/sh -c ls); by the declared scope it may run only"},
		"an empty list":                      {silent, allow([]string{}...), []profile.Effect{run(call, "/bin/sh")}, "EXEC-001"},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(tc.server, tc.effects...)
			tc.change(&in)
			expect(t, in, tc.want)
		})
	}
}

// A browser shuts its own processes in; whoever else does so is seen.
func TestConfinement(t *testing.T) {
	const chrome = "/opt/google/chrome/chrome"
	pages := server{name: "web", tools: []string{"format_note: Takes a screenshot of a page with headless Chrome. Runs a browser."}}
	expect(t, input(pages, within(chrome, evade(call, "unshare", "", false))), "")
	expect(t, input(pages, evade(call, "unshare", "", false)), "EVADE-001 Medium")
	expect(t, input(pages, within("/bin/sh", evade(call, "unshare", "", false))), "EVADE-001 Medium")
	expect(t, input(pages, within(chrome, evade(call, "ptrace", "", false))), "EVADE-001 High")
	expect(t, input(silent, within(chrome, evade(call, "unshare", "", false))), "EVADE-001 Medium")
}

// A marker that a shell ran out of an argument is proof.
func TestInjections(t *testing.T) {
	marker := within("/bin/sh", run(call, "./x"))
	marker.Path, marker.Error = "/app/marlow-run-c9", "ENOENT"
	const value = "marlow-c9$(./marlow-run-c9)';./marlow-run-c9;:'"
	runner := server{name: "x", tools: []string{"format_note: Runs a program."}}
	terminal := server{name: "x", tools: []string{"format_note: Types into the terminal."}}
	given := func(of server, command string) Input {
		in := input(of, run(call, "/bin/sh", "-c", command), marker)
		in.Arguments = map[report.Capability][]Argument{call.Capability: {{Field: "input", Value: value}}}
		return in
	}
	const want = "EXEC-002 High: Tool format_note ran a command that stood in the text of an argument in /bin/sh: it tried to start marlow-run-c9."
	expect(t, given(runner, "git log "+value), want)
	expect(t, given(gitty, "git log "+value), want)
	expect(t, given(runner, value), "")
	expect(t, given(terminal, "cd /app && "+value), "")
	before := marker
	before.Where = startup
	expect(t, input(runner, before), "")
}

// late is a connect of a process that a call has left behind.
func late(change func(*profile.Effect)) profile.Effect {
	e := connect(where(report.PhaseCall, "format_note", report.AttributionLineage), "tcp", "93.184.216.34", 443)
	e.Detached, e.Within = true, "/usr/bin/curl"
	return with(e, change)
}

// Who detaches itself and goes on is seen, where going on is not what it is for.
func TestDetached(t *testing.T) {
	background := server{name: "web", tools: []string{"format_note: Fetches a web page in the background."}}
	expect(t, input(webby, late(func(*profile.Effect) {})),
		"EXEC-003 Medium: A process left behind by tool format_note, detached from the server, tried to connect to 93.184.216.34:443 (tcp) after the call")
	for name, tc := range map[string]struct {
		server server
		change func(*profile.Effect)
	}{
		"attached":        {webby, func(e *profile.Effect) { e.Detached = false }},
		"during the call": {webby, func(e *profile.Effect) { e.Where = call }},
		"a browser":       {webby, func(e *profile.Effect) { e.Within = "/opt/google/chrome/chrome" }},
		"on the machine":  {webby, func(e *profile.Effect) { e.Address = "127.0.0.1" }},
		"an argument":     {webby, func(e *profile.Effect) { e.Address, e.Host = "28.18.7.7", "c12.pages.example.net" }},
		"declared":        {background, func(*profile.Effect) {}},
	} {
		t.Run(name, func(t *testing.T) { expect(t, input(tc.server, late(tc.change)), "") })
	}
}

var _ = prove(map[string]proof{
	"MCPA-EXEC-003": {
		finds:  one(webby, late(func(*profile.Effect) {})),
		spares: one(webby, late(func(e *profile.Effect) { e.Detached = false })),
	},
	"MCPA-EXEC-002": {
		finds:  one(silent, with(run(call, "/app/marlow-run-c9"), func(e *profile.Effect) { e.Error = "ENOENT" })),
		spares: one(silent, with(run(call, "/app/marlow-c9"), func(e *profile.Effect) { e.Error = "ENOENT" })),
	},
})

// TestShellOfAProgram: a shell that was started for a program which serves is as that is; what else it starts is not.
func TestShellOfAProgram(t *testing.T) {
	pictures := server{name: "pictures", tools: []string{"format_note: Changes a picture to another format."}}
	shell := run(call, "/bin/sh", "-c", "convert a.png b.jpg")
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"a program that serves": {input(pictures, shell, within("/bin/sh", run(call, "/usr/bin/convert", "a.png", "b.jpg"))), ""},
		"a script that serves":  {input(pictures, shell, within("/bin/sh", run(call, "/usr/bin/python3", "-I", "/usr/local/bin/convert", "a.png"))), ""},
		"another script":        {input(pictures, shell, within("/bin/sh", run(call, "/usr/bin/python3", "-I", "/srv/convert", "a.png"))), "EXEC-001 Medium"},
		"another besides":       {input(pictures, shell, within("/bin/sh", run(call, "/usr/bin/sum", "a.png"))), "EXEC-001 Medium"},
		"another first":         {input(pictures, run(call, "/bin/sh", "-c", "sum a; convert a.png b.jpg")), "EXEC-001 Medium"},
		"of another server":     {input(silent, shell), "EXEC-001 Medium"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, tc.in, tc.want) })
	}
}

// TestEvasionToOrder: a program that an argument named as the one to run may fail at its business, which is not the server's.
func TestEvasionToOrder(t *testing.T) {
	const program = "/usr/bin/umount"
	unmount := with(evade(call, "umount2", "ENOENT", false), func(e *profile.Effect) { e.Within = program })
	for value, want := range map[string]string{"umount": "", "sh": "EVADE-001 Medium: Tool format_note tried to call umount2"} {
		in := input(server{name: "sh", tools: []string{"format_note: Runs a shell command."}}, run(call, program, "-c", "note"), unmount)
		in.Arguments = map[report.Capability][]Argument{call.Capability: {{Field: "shell", Value: value}}}
		expect(t, in, want)
	}
}
