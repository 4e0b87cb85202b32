package rules

import (
	"path"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

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
