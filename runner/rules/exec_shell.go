package rules

import (
	"path"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

var injectedCommand = Rule{
	ID: "MCPA-EXEC-002", Severity: report.SeverityHigh, Title: "Argument was run by a shell",
	Description: "A text that the audit had put into an argument was run as a command. One call of each tool holds in its texts the name of a " +
		"program that does not exist, in a form that a shell runs where the text stands bare, in double or in single quotes in a command line " +
		"($(...), ';...;'); the finding is the attempt to run that program, so that what escapes the text, or gives it to the program as an " +
		"argument of its own, is none. No findings are arguments that are there to be run (command, cmd, code, script), tools that speak of " +
		"a shell or a terminal, and those that speak of running programs and hand the whole argument to the shell.",
	Fix: "Start the program without a shell and give it a list of arguments (execFile, subprocess.run([...]), exec.Command), with \"--\" before " +
		"what comes from outside.",
	Expected: "None are known: the program has a name that stands nowhere else. A tool is not tried whose texts are all held to a pattern or a list.",
	Mitigation: "Do not let text that others wrote (web pages, mails, issues) become arguments of the tool before it is repaired. Run the " +
		"server in an image without a shell, with a read-only root file system, no network that it does not need and no secrets.",
	References: []string{"OWASP MCP05:2025", "SAFE-T1101"},
}

func findInjections(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		if !inputs.Injected(e.Path) || e.Phase != report.PhaseCall || in.shells(e.Capability) {
			return false
		}
		d.severity, d.object = report.SeverityHigh, path.Base(e.Path)
		with := ""
		if e.Within != "" {
			d.object, with = e.Within, " in "+clean(e.Within, 128)
		}
		d.message = sentence("%s ran a command that stood in the text of an argument%s: it tried to start %s", subject(e), with, clean(path.Base(e.Path), 64))
		return true
	}, profile.KindExec)
}

// shells reports whether a capability is there to give its arguments to a shell.
func (in Input) shells(of report.Capability) bool {
	covering := in.Scope.Covering(of)
	if covering.Mentions("shell", "shells", "bash", "zsh", "powershell", "terminal", "tty") {
		return true
	}
	return len(covering.Subprocess) > 0 && slices.ContainsFunc(in.Profile.Effects, func(e profile.Effect) bool {
		return e.Kind == profile.KindExec && e.Capability == of && e.Error == "" && len(e.Argv.Words()) == 3 && e.Argv.Words()[1] == "-c" &&
			slices.ContainsFunc(in.Arguments[of], func(a Argument) bool { return a.Value == e.Argv.Words()[2] })
	})
}
