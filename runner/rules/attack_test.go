package rules

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// hit is the attempt to run the command of an attack.
func hit(number int) profile.Effect {
	e := within("/bin/sh", run(call, fmt.Sprintf("/srv/marlow-run-c%d", number)))
	e.Error = "ENOENT"
	return e
}

// TestAttackedCommands: a command that hid in an argument is a finding, unless the tool is
// there to run it.
func TestAttackedCommands(t *testing.T) {
	try := func(number int, field string, control, accepted bool) attack.Attempt {
		return attack.Attempt{Of: call.Capability, Family: attack.Command, Form: "behind a semicolon", Control: control, Field: field,
			Value: "main;./x;", Call: number, Answered: true, Accepted: accepted}
	}
	texted := try(6, "command", true, true)
	texted.Answer = "Error: the command is not allowed"
	listed := func(a attack.Attempt, answer string) attack.Attempt {
		a.Listed, a.Answer = true, answer
		return a
	}
	limited := server{name: "sh", tools: []string{"format_note: Runs a shell command. Only ls, pwd and date are allowed."}}
	for name, tc := range map[string]struct {
		server   server
		attempts []attack.Attempt
		ran      []int
		want     string
	}{
		"not run":                        {silent, []attack.Attempt{try(7, "branch", false, true)}, nil, ""},
		"run":                            {silent, []attack.Attempt{try(7, "branch", false, true)}, []int{7}, `EXEC-002 High: Tool format_note ran a command that stood in its argument "branch", behind a semicolon`},
		"of no attempt":                  {silent, []attack.Attempt{try(7, "branch", false, true)}, []int{8}, ""},
		"told to":                        {shelly, []attack.Attempt{try(6, "command", true, true), try(7, "command", false, true)}, []int{6, 7}, ""},
		"typed into a terminal":          {shelly, []attack.Attempt{try(6, "text", true, true), try(7, "text", false, true)}, []int{7}, ""},
		"past a refusal":                 {shelly, []attack.Attempt{try(6, "command", true, false), try(7, "command", false, true)}, []int{7}, "EXEC-002 High"},
		"past a refusal in a text":       {shelly, []attack.Attempt{texted, try(7, "command", false, true)}, []int{7}, "EXEC-002 High"},
		"past what it says":              {limited, []attack.Attempt{try(6, "command", true, false), try(7, "command", false, true)}, []int{7}, `EXEC-002 Critical: Tool format_note ran a command`},
		"although it says otherwise":     {limited, []attack.Attempt{try(6, "command", true, true)}, []int{6}, "EXEC-002 Critical"},
		"by a program that is permitted": {silent, []attack.Attempt{listed(try(6, "program", true, false), "program not permitted"), listed(try(7, "program", false, true), "")}, []int{7}, "EXEC-002 High"},
		"by a program of the schema":     {silent, []attack.Attempt{listed(try(6, "program", true, false), "expected one of ls, find"), listed(try(7, "program", false, true), "")}, []int{7}, ""},
		"of another place":               {shelly, []attack.Attempt{try(6, "host", true, false), try(7, "command", false, true)}, []int{7}, ""},
	} {
		in := input(tc.server)
		in.Manifest, in.Attack.Attempts = tc.server.manifest(), tc.attempts
		for _, number := range tc.ran {
			in.Attack.Profile.Effects = append(in.Attack.Profile.Effects, hit(number))
		}
		t.Run(name, func(t *testing.T) { expect(t, in, tc.want) })
	}
}

// overwritten is a file that was opened to write to it.
func overwritten(path string) profile.Effect {
	return profile.Effect{Fact: profile.Fact{Kind: profile.KindWrite, Path: path, Operation: "openat"}, Where: call}
}

// TestOpenedByAttack: a file that only a shell, or the environment of a program, leads to is as good
// as a command that was run; a path that has all of the value in it is none.
func TestOpenedByAttack(t *testing.T) {
	for opened, want := range map[string]string{
		"/var/tmp/marlow-elsewhere/marlow-run-c7":         `EXEC-002 High: Tool format_note ran a command that stood in its argument "file", as where output goes: "a.txt>x" made it try to open /var/tmp/marlow-elsewhere/marlow-run-c7`,
		"/var/tmp/marlow-elsewhere/marlow-run-c7/libc.so": "EXEC-002 High",
		"/srv/a.txt>/var/tmp/marlow-elsewhere/marlow-run": "",
		"/srv/a.txt>/var/tmp/elsewhere/marlow-run-c7":     "",
		"/var/tmp/marlow-elsewhere/marlow-run-c8":         "",
		"/srv/marlow-run-c7":                              "",
	} {
		in := input(silent)
		in.Attack.Attempts = []attack.Attempt{{Of: call.Capability, Family: attack.Command, Form: "as where output goes", Field: "file", Value: "a.txt>x", Call: 7}}
		in.Attack.Profile.Effects = []profile.Effect{overwritten(opened)}
		expect(t, in, want)
	}
}

// TestUnpacked: a file of an archive that led out was unpacked without a look at its name.
func TestUnpacked(t *testing.T) {
	for path, want := range map[string]string{
		inputs.OutsideFile(7, ".txt"):      "FILE-003 High",
		inputs.OutsideFile(8, ".txt"):      "",
		"/srv" + inputs.OutsideFile(7, ""): "",
	} {
		in := input(silent)
		in.Attack.Attempts = []attack.Attempt{{Of: call.Capability, Family: attack.Path, Archive: true, Form: "as a file in an archive", Field: "bundle", Value: "UEsD", Call: 7, File: 7, Answered: true, Accepted: true}}
		in.Attack.Profile.Effects = []profile.Effect{overwritten(path)}
		expect(t, in, want)
	}
}

// TestFormatted: what a text of Python leads to when it is formatted is seen in the answer.
func TestFormatted(t *testing.T) {
	for answer, want := range map[string]string{
		"Hello {'__name__': '__main__', '__doc__': None, '__package__'": `EXEC-004 High: Tool format_note evaluated its argument "text", in a text of Python that is formatted`,
		"Hello {user.__init__.__globals__}":                             "",
		"the module's '__name__': 'x'":                                  "",
	} {
		in := input(silent)
		in.Attack.Attempts = []attack.Attempt{{Of: call.Capability, Family: attack.Code, Form: "in a text of Python that is formatted", Field: "text", Call: 7, Answered: true, Accepted: true, Answer: answer}}
		expect(t, in, want)
	}
}

// TestAttackedPaths: a file outside that was reached is a finding where something bound the
// tool: its words, a refusal of the plain path, or a directory that it puts before names.
func TestAttackedPaths(t *testing.T) {
	try := func(number int, field, value, honest string, control, accepted bool) attack.Attempt {
		return attack.Attempt{Of: call.Capability, Family: attack.Path, Form: "so", Control: control, Field: field, Value: value, Honest: honest,
			File: number, Answered: true, Accepted: accepted}
	}
	outside := func(number int) profile.Effect { return read(call, inputs.OutsideFile(number, ".txt")) }
	loaded := func(number int) profile.Effect {
		e := outside(number)
		e.Kind = profile.KindLoad
		return e
	}
	plain, hidden := try(1, "path", "/x", "a.txt", true, false), try(2, "path", "....//x", "a.txt", false, true)
	says := server{name: "notes", tools: []string{"format_note: Reads a file of the notes directory; nothing outside of it."}}
	late := hidden
	late.Accepted, late.Answer = false, "access denied: outside of the directory"
	texted := plain
	texted.Accepted, texted.Answer = true, "Error: the path is not allowed"
	linked := hidden
	linked.Link = true
	broken := hidden
	broken.Accepted, broken.Answer = false, "the file is no YAML"
	for name, tc := range map[string]struct {
		server   server
		attempts []attack.Attempt
		effects  []profile.Effect
		want     string
	}{
		"refused":                {says, []attack.Attempt{plain, hidden}, nil, ""},
		"no guard":               {silent, []attack.Attempt{try(1, "path", "/x", "a.txt", true, true), hidden}, []profile.Effect{outside(1), outside(2)}, ""},
		"past a refusal":         {silent, []attack.Attempt{plain, hidden}, []profile.Effect{outside(2)}, "FILE-003 High: Tool format_note opened /var/tmp/marlow-elsewhere/2/note.txt"},
		"refused for its ending": {silent, []attack.Attempt{withAnswer(plain, "output must end in .json or .md"), hidden}, []profile.Effect{outside(2)}, ""},
		"refused as it is there": {silent, []attack.Attempt{withAnswer(plain, "/x exists; set overwrite to replace it"), hidden}, []profile.Effect{outside(2)}, ""},
		"by what is not denied": {silent, []attack.Attempt{withAnswer(plain, "access denied"), try(2, "path", "../x", "docs/a.txt", true, true)},
			[]profile.Effect{outside(2)}, "FILE-003 High"},
		"where absolute paths are wanted": {silent, []attack.Attempt{try(1, "path", "/x", "/srv/a.txt", true, true), withAnswer(try(2, "path", "../x", "/srv/a.txt", true, false), "relative paths are not allowed")},
			[]profile.Effect{outside(1)}, ""},
		"past a text":             {silent, []attack.Attempt{texted, hidden}, []profile.Effect{outside(2)}, "FILE-003 High"},
		"past what it says":       {says, []attack.Attempt{try(1, "path", "/x", "a.txt", true, true)}, []profile.Effect{outside(1)}, "FILE-003 High"},
		"of no attempt":           {says, []attack.Attempt{hidden}, []profile.Effect{outside(3)}, ""},
		"by a link":               {says, []attack.Attempt{linked}, []profile.Effect{read(call, "/srv/notes/marlow-elsewhere/2/note.txt")}, "FILE-003 High"},
		"by a link of somebody's": {silent, []attack.Attempt{plain, linked}, []profile.Effect{outside(2)}, ""},
		"to a sibling":            {silent, []attack.Attempt{plain, hidden}, []profile.Effect{read(call, "/srv/notes-marlow-elsewhere/2/note.txt")}, "FILE-003 High"},
		"into a directory of that name": {says, []attack.Attempt{plain, hidden},
			[]profile.Effect{read(call, "/srv/notes/..../..../var/tmp/marlow-elsewhere/2/note.txt")}, ""},
		"goes through everything": {says, []attack.Attempt{linked}, []profile.Effect{outside(1), outside(2)}, ""},
		"to find out where it is": {says, []attack.Attempt{plain, late}, []profile.Effect{outside(2)}, ""},
		"and not understood":      {silent, []attack.Attempt{plain, broken}, []profile.Effect{outside(2), loaded(2)}, "FILE-003 High"},
		"and shown in an error":   {silent, []attack.Attempt{plain, withAnswer(broken, "no YAML: Nobody needs this note.")}, []profile.Effect{outside(2)}, "FILE-003 High"},
		"and refused as unknown":  {says, []attack.Attempt{plain, broken}, []profile.Effect{outside(2), loaded(1)}, ""},
		"a name becomes a path": {silent, []attack.Attempt{try(1, "rule", "/x", "style", true, true)},
			[]profile.Effect{read(call, "/srv/rules/style.md"), outside(1)}, "FILE-003 Medium"},
		"a name becomes a directory elsewhere": {silent, []attack.Attempt{try(1, "space", "/x", "team", true, true)},
			[]profile.Effect{read(call, "/srv/spaces/team/home.md"), read(call, "/var/tmp/marlow-elsewhere/1/home.md")}, "FILE-003 Medium"},
		"a path is a path": {silent, []attack.Attempt{try(1, "path", "/x", "style.md", true, true)},
			[]profile.Effect{read(call, "/srv/rules/style.md"), outside(1)}, ""},
		"a name in the directory that it is told": {silent, []attack.Attempt{try(1, "rule", "../x", "style", true, true)},
			[]profile.Effect{read(call, "/repo/rules/style.md"), outside(1)}, ""},
	} {
		in := input(tc.server)
		in.Manifest = tc.server.manifest()
		in.Arguments = map[report.Capability][]Argument{call.Capability: {{Field: "repo", Value: "/repo"}}}
		in.Attack.Attempts, in.Attack.Profile.Effects, in.Attack.Lures = tc.attempts, tc.effects, []string{"/srv/notes"}
		t.Run(name, func(t *testing.T) { expect(t, in, tc.want) })
	}
}

func withAnswer(a attack.Attempt, answer string) attack.Attempt { a.Answer = answer; return a }

// TestFewCommands: what a tool says of the commands that it runs.
func TestFewCommands(t *testing.T) {
	for text, want := range map[string]bool{
		"Only ls, pwd and date are allowed.":                       true,
		"Runs an allowed command.":                                 true,
		"Commands are restricted to a list.":                       true,
		"Only the commands ls and pwd can be permitted.":           true,
		"Runs a command from the allowlist.":                       true,
		"Runs a command: only ls, pwd and date.":                   true,
		"It only runs git and npm.":                                true,
		"Only config list and projects list can be run.":           true,
		"Runs df or du. Nothing else can be run.":                  true,
		"Looks at files; no other program can be started.":         true,
		"Runs uptime or df. Other commands are refused.":           true,
		"Only one build can run.":                                  false,
		"Only date ranges and names are taken.":                    false,
		"Runs any command in a shell.":                             false,
		"You are allowed to run any command.":                      false,
		"Only use this tool when no other helps. Runs a command.":  false,
		"Executes a shell command. Only absolute paths work.":      false,
		"Only runs on Linux. Allows commands of up to 4096 bytes.": false,
	} {
		if got := fewCommands.MatchString(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestRunsNothing: what a tool says of what it does not run.
func TestRunsNothing(t *testing.T) {
	for text, want := range map[string]bool{
		"Adds numbers. Never executes code.":                         true,
		"Does not run any shell commands.":                           true,
		"No code is ever evaluated.":                                 true,
		"Looks up a host without a shell.":                           true,
		"Commands are never run.":                                    true,
		"Runs a command. Does not run interactive commands.":         false,
		"Does not run commands that need a terminal.":                false,
		"Does not run commands unless they were approved.":           false,
		"Never executes code without asking the user.":               false,
		"Runs Python code. Does not run code that imports a module.": false,
	} {
		in := input(server{tools: []string{"format_note: " + text}})
		in.Manifest = server{tools: []string{"format_note: " + text}}.manifest()
		if got := in.runsNothing(call.Capability); (got != "") != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestAttackedBelow: who puts an absolute path below a directory of its own keeps to that, whatever honest values are.
func TestAttackedBelow(t *testing.T) {
	for dir, want := range map[string]string{
		"/srv/downloads": "FILE-003 Medium: Tool format_note opened " + inputs.OutsideFile(4, ".txt"),
		"/tmp":           "",
		"":               "",
	} {
		in := input(silent)
		for number, value := range []string{inputs.OutsideFile(3, ""), "../x"} {
			in.Attack.Attempts = append(in.Attack.Attempts, attack.Attempt{Of: call.Capability, Family: attack.Path, Form: "so", Control: true, Field: "folder",
				Value: value, Honest: "/tmp", File: 3 + number, Answered: true, Accepted: true})
		}
		in.Attack.Profile.Effects = []profile.Effect{read(call, dir+inputs.OutsideFile(3, ".txt")), read(call, inputs.OutsideFile(4, ".txt"))}
		t.Run(dir, func(t *testing.T) { expect(t, in, want) })
	}
}

// TestAttackedURL: who takes a URL and opens the file that one names had to say so.
func TestAttackedURL(t *testing.T) {
	try := attack.Attempt{Of: call.Capability, Family: attack.Path, Form: "as a URL of a file", URL: true, Field: "url", File: 3, Answered: true, Accepted: true}
	for text, want := range map[string]string{
		"Fetches a web page.":            "FILE-003 Medium",
		"Converts a page or a file.":     "",
		"Opens a page in a browser.":     "",
		"Never leaves the workspace dir": "",
	} {
		in := input(server{tools: []string{"format_note: " + text}})
		in.Manifest, in.Attack.Attempts = server{tools: []string{"format_note: " + text}}.manifest(), []attack.Attempt{try}
		if text != "Never leaves the workspace dir" {
			in.Attack.Profile.Effects = []profile.Effect{read(call, inputs.OutsideFile(3, ".txt"))}
		}
		t.Run(text, func(t *testing.T) { expect(t, in, want) })
	}
}

// TestAttackedResource: a resource whose URI led to a file that no list has is a finding, unless a template says
// that there are more.
func TestAttackedResource(t *testing.T) {
	at := call
	at.Capability = report.Capability{Kind: report.CapabilityResource, Name: "file:///srv/docs/faq.txt"}
	try := attack.Attempt{Of: at.Capability, Family: attack.Path, Form: "as an absolute path", Control: true, Field: "uri", Value: "file:///x", Honest: "/srv/docs/faq.txt", File: 3, Answered: true, Accepted: true}
	for template, want := range map[string]string{
		"":                   "FILE-003 Medium: Resource file:///srv/docs/faq.txt opened",
		"docs://{name}":      "FILE-003 Medium",
		"file:///{+path}":    "",
		"{+anything}":        "",
		"file://localhost/x": "",
	} {
		in := input(silent)
		if template != "" {
			in.Manifest.ResourceTemplates = []json.RawMessage{[]byte(`{"uriTemplate":"` + template + `","name":"x"}`)}
		}
		in.Attack.Attempts = []attack.Attempt{try}
		in.Attack.Profile.Effects = []profile.Effect{read(at, inputs.OutsideFile(3, ".txt"))}
		t.Run(template, func(t *testing.T) { expect(t, in, want) })
	}
}

// TestAttackedLater: a file that another tool touched, which uses what the attempt has kept, is the attempt's,
// unless an attempt on that tool came in between.
func TestAttackedLater(t *testing.T) {
	user := call
	user.Capability.Name = "export_notes"
	try := attack.Attempt{Of: call.Capability, Users: []report.Capability{user.Capability}, Family: attack.Path, Form: "so", Field: "title", Value: "../x", Honest: "groceries", File: 3, Answered: true, Accepted: true}
	own := attack.Attempt{Of: user.Capability, Family: attack.Path, Form: "so", Field: "path", Value: "../x", File: 3, Answered: true, Accepted: true}
	earlier, later := own, own
	began := time.Now()
	try.Sent, earlier.Sent, later.Sent = began.Add(time.Second), began, began.Add(2*time.Second)
	opened := with(read(user, inputs.OutsideFile(3, ".txt")), func(e *profile.Effect) { e.Time = began.Add(3 * time.Second) })
	for name, tc := range map[string]struct {
		attempts []attack.Attempt
		want     string
	}{
		"used":           {[]attack.Attempt{try}, "FILE-003 Medium: Tool format_note opened"},
		"after its own":  {[]attack.Attempt{earlier, try}, "FILE-003 Medium: Tool format_note opened"},
		"used by nobody": {[]attack.Attempt{{Of: call.Capability, Family: attack.Path, File: 3, Honest: "groceries"}}, ""},
		"of its own":     {[]attack.Attempt{try, later}, ""},
	} {
		in := input(silent)
		in.Attack.Attempts = tc.attempts
		in.Attack.Profile.Effects = []profile.Effect{read(user, "/srv/exported/groceries.md"), opened}
		t.Run(name, func(t *testing.T) { expect(t, in, tc.want) })
		for _, a := range tc.attempts {
			last := len(a.Users) > 0 && name != "of its own" || a.Sent.Equal(later.Sent)
			if _, succeeded := in.Succeeded()(a); succeeded != last {
				t.Errorf("%s: the attempt on %s at %s: %v", name, a.Of.Name, a.Field, succeeded)
			}
		}
	}
}

// TestEvaluatedLater: an expression that one tool stores and another evaluates is an argument of the first.
func TestEvaluatedLater(t *testing.T) {
	user := call
	user.Capability.Name = "merge_letters"
	began := time.Now()
	in := input(silent)
	in.Attack.Attempts = []attack.Attempt{
		{Of: user.Capability, Family: attack.Code, Form: "so", Field: "name", Value: "x", File: 3, Answered: true, Accepted: true, Sent: began},
		{Of: call.Capability, Users: []report.Capability{user.Capability}, Family: attack.Code, Form: "in a template", Field: "source", Value: "{{x}}", File: 3, Answered: true, Accepted: true, Sent: began.Add(time.Second)},
	}
	in.Attack.Profile.Effects = []profile.Effect{with(read(user, inputs.OutsideFile(3, ".txt")), func(e *profile.Effect) { e.Time = began.Add(2 * time.Second) })}
	expect(t, in, `EXEC-004 High: Tool format_note evaluated its argument "source"`)
}
