package audit

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// executes is a run in which a program was started, or with an error was to be.
func executes(o observation, errno, path string, argv ...string) observation {
	o.profile.Effects = append(o.profile.Effects, profile.Effect{Fact: profile.Fact{
		Kind: profile.KindExec, Path: path, Error: errno, Argv: profile.NewArgv(argv...),
	}})
	return o
}

// TestMissing: what was looked for along PATH, and is nowhere.
func TestMissing(t *testing.T) {
	says := func(kind report.OutputKind, text string) observation {
		return watched(func(o *observation) { o.result.Outputs = []report.Output{{Kind: kind, Text: text}} })
	}
	for name, tc := range map[string]struct {
		run  observation
		want string
	}{
		"execvp":             {executes(executes(watched(), "ENOENT", "/usr/local/bin/docker", "docker", "ps"), "ENOENT", "/usr/bin/docker", "docker", "ps"), "docker"},
		"found later":        {executes(executes(watched(), "ENOENT", "/usr/local/bin/docker", "docker", "ps"), "", "/usr/bin/docker", "docker", "ps"), ""},
		"no look-up":         {executes(watched(), "ENOENT", "/opt/tool", "/opt/tool"), ""},
		"a shell's":          {executes(watched(), "", "/bin/sh", "sh", "-c", "cd /x && A=1 gh pr list | jq '.[] | a; b'"), "gh jq"},
		"a shell's search":   {executes(watched(), "", "/bin/sh", "sh", "-c", "command -v ffmpeg >/dev/null"), "ffmpeg"},
		"a shell's, started": {executes(executes(watched(), "", "/bin/sh", "sh", "-c", "git log"), "", "/usr/bin/git", "git", "log"), ""},
		"code":               {executes(watched(), "ENOENT", "/usr/bin/python3", "python3", "-c", "0"), ""},
		"fetches":            {executes(watched(), "ENOENT", "/usr/bin/npx", "npx", "-y", "x"), ""},
		"runtimes' own":      {executes(watched(), "ENOENT", "/usr/bin/lsb_release", "lsb_release", "-a"), ""},
		"ours":               {executes(watched(), "ENOENT", "/bin/marlow-run-c7", "marlow-run-c7"), ""},
		"Go":                 {says(report.OutputError, `exec: "kubectl": executable file not found in $PATH`), "kubectl"},
		"Node":               {says(report.OutputError, "Error: spawn adb ENOENT"), "adb"},
		"dash":               {says(report.OutputResult, "/bin/sh: 1: tshark: not found"), "tshark"},
		"a label":            {says(report.OutputError, "/bin/sh: 1: STDERR: not found"), ""},
		"nothing":            {says(report.OutputError, "/bin/sh: 1: undefined: not found"), ""},
		"bash":               {says(report.OutputResult, "bash: line 1: gh: command not found"), "gh"},
		"in words":           {says(report.OutputError, "ffmpeg is not installed"), "ffmpeg"},
		"in more words":      {says(report.OutputError, "The gh CLI was not found in your PATH"), "gh"},
		"something else":     {says(report.OutputError, "Resource not found: page"), ""},
		"a path":             {says(report.OutputError, `exec: "../x": executable file not found in $PATH`), ""},
		"on stderr":          {watched(func(o *observation) { o.stderr = "sh: 1: oc: not found" }), "oc"},
	} {
		if got := strings.Join(missing([]observation{tc.run}), " "); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestStandInsAreNotTheServers: what our own programs do is no need of the server, and no
// behaviour that the next audit is compared with.
func TestStandInsAreNotTheServers(t *testing.T) {
	first := executes(watched(), "ENOENT", "/usr/bin/gh", "gh")
	exits := watched(incompleteProbe(report.ReasonServerExited, "the server exited"), func(o *observation) { o.result.Listed = false })
	var how launch
	plan := Plan{}
	standIn(plan, &how, []observation{first})
	if !slices.Equal(how.standIns, []string{"gh"}) || unmissed(how, Plan{}, []observation{first}).impossible != nil {
		t.Fatalf("%+v", how)
	}
	second := executes(watched(), "", "/tmp/marlow-tools/gh", "gh")
	second.how = how
	second.how.moment = report.LaunchStandIns
	if runs := []observation{first, second}; second.unaided() || !first.unaided() || len(repeatable(runs)) != 1 {
		t.Error("the run counts as the server's")
	}
	if got := launched([]observation{second}); !slices.Equal(got[0].StandIns, []string{"gh"}) {
		t.Errorf("%+v", got)
	}
	if g := gaps(nil, []observation{first, second}, observation{}, observation{}, report.NetworkSinkhole); len(g) != 1 || g[0].What != "MissingPrograms" || !strings.Contains(g[0].Detail, "gh") {
		t.Errorf("%+v", g)
	}
	if n, ok := plan.next([]observation{executes(exits, "ENOENT", "/usr/bin/gh", "gh")}); !ok || n.moment != "" || !slices.Equal(n.standIns, []string{"gh"}) {
		t.Errorf("a server that does not start without: %+v", n)
	}
	exits.how.standIns = []string{"gh"}
	if _, ok := plan.next([]observation{executes(exits, "ENOENT", "/usr/bin/adb", "adb")}); ok {
		t.Error("tried for ever")
	}
	started := watched(func(o *observation) { o.how.standIns = []string{"gh"} })
	if n, _ := plan.next([]observation{exits, started}); n.moment != report.MomentRestart || !slices.Equal(n.standIns, []string{"gh"}) {
		t.Errorf("afterwards: %+v", n)
	}
	if unmissed(how, Plan{}, []observation{exits, started}).impossible == nil {
		t.Error("a launch with what every launch has")
	}
	standIn(plan, &how, []observation{watched()})
	if unmissed(how, Plan{}, []observation{watched()}).impossible == nil {
		t.Error("started again for nothing")
	}
}

// TestStandInsAreExercised: a tool that only accepts a call with stand-ins was exercised,
// and one that never does was not.
func TestStandInsAreExercised(t *testing.T) {
	tools := func(kept launch, accepted ...int) observation {
		o := watched(func(o *observation) { o.how, o.result.Coverage, o.result.Exercise = kept, report.Coverage{}, nil })
		for i, n := range accepted {
			o.result.Exercise = append(o.result.Exercise, report.CapabilityCoverage{
				Kind: report.CapabilityTool, Name: string(rune('a' + i)), Calls: report.Share{Total: 4, Done: n},
			})
			o.result.Coverage.Tools.Listed++
			o.result.Coverage.Tools.Called++
			if n > 0 {
				o.result.Coverage.Tools.Accepted++
			}
		}
		return o
	}
	aided := launch{moment: report.LaunchStandIns, standIns: []string{"gh"}}
	first := tools(launch{}, 0, 0)
	if got := incomplete([]observation{first}); got.Reason != report.ReasonNotExercised {
		t.Errorf("without stand-ins: %+v", got)
	}
	runs := []observation{first, tools(aided, 2, 0)}
	covered, rows := coverage(runs)
	if covered.Tools.Accepted != 1 || rows[0].Calls != (report.Share{Total: 8, Done: 2}) || rows[1].Calls.Total != 4 || first.result.Exercise[0].Calls.Done != 0 {
		t.Errorf("%+v, %+v", covered, rows)
	}
	if got := incomplete(runs); got.Reason == report.ReasonNotExercised || complete(runs) {
		t.Errorf("with stand-ins: %+v", got)
	}
	if covered, _ := coverage([]observation{tools(launch{}, 3), tools(aided, 2)}); covered.Tools.Accepted != 1 {
		t.Errorf("counted twice: %+v", covered)
	}
}
