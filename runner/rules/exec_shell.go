package rules

import (
	"cmp"
	"path"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

func findInjections(in Input) []draft {
	return append(in.injectedHonestly(), in.injectedByAttack()...)
}

// injectedHonestly finds commands that were run from the one call of each tool that has some
// in its arguments.
func (in Input) injectedHonestly() []draft {
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

// injectedByAttack finds commands of attempts that were run.
func (in Input) injectedByAttack() (all []draft) {
	ran := in.Attack.sighted.ran
	for _, a := range in.Attack.Attempts {
		e, proven := ran[a.Call]
		if !proven || a.Family != attack.Command {
			continue
		}
		quote, hardened := in.hardened(a.Of)
		if !hardened && (a.Control || in.commanded(a, ran) || a.Listed && !in.deniesProgram(a)) {
			continue
		}
		d := draft{severity: report.SeverityHigh, phase: report.PhaseCall, capability: a.Of, behind: e.AlternativeCause,
			object: cmp.Or(e.Within, name(a.Of)), evidence: e.Evidence()}
		d.message = sentence("%s ran a command that stood in its argument %s, %s: %s made it try to %s",
			capital(name(a.Of)), quoted(a.Field), a.Form, quoted(clean(a.Value, 160)), led(e))
		if quote = cmp.Or(quote, in.harmless(a.Of)); quote != "" {
			d.severity = report.SeverityCritical
			d.message = sentence("%s; it says %s", d.message, quoted(quote))
		}
		all = append(all, d)
	}
	return all
}

// deniesProgram reports whether the name of another program was denied where the attempt has one that is permitted: a
// choice of the schema alone may be there for its programs' own arguments.
func (in Input) deniesProgram(a attack.Attempt) bool {
	return slices.ContainsFunc(in.Attack.controls(a), func(control attack.Attempt) bool { return refused(control) && denies.MatchString(control.Answer) })
}

// led says what an injected command did.
func led(e profile.Effect) string {
	if e.Kind == profile.KindExec {
		return "start " + clean(path.Base(e.Path), 64)
	}
	return "open " + clean(e.Path, 128)
}

// refused reports whether an attempt was answered with an error, or a text that refuses.
func refused(a attack.Attempt) bool {
	return a.Answered && (!a.Accepted || denies.MatchString(a.Answer))
}

// commanded reports whether a tool only runs what it is there to run: an undisguised command
// was run, too, or not refused by a tool that passes its arguments to a shell.
func (in Input) commanded(a attack.Attempt, ran map[int]profile.Effect) bool {
	told := inputs.Commands(a.Field) || in.shells(a.Of)
	controls := in.Attack.controls(a)
	for _, control := range controls {
		_, open := ran[control.Call]
		switch {
		case open:
			return told || in.runs(a.Of)
		case told && !refused(control):
			return true
		}
	}
	return told && (len(controls) == 0 || in.evaluates(a.Of) && inputs.IsCode(a.Field))
}

// runs reports whether a tool speaks of running programs.
func (in Input) runs(of report.Capability) bool { return len(in.Scope.Own(of).Subprocess) > 0 }

// shells reports whether the purpose of a capability is to pass its arguments to a shell.
func (in Input) shells(of report.Capability) bool {
	covering := in.Scope.Covering(of)
	if covering.Mentions("shell", "shells", "bash", "zsh", "powershell", "terminal", "tty") {
		return true
	}
	return len(covering.Subprocess) > 0 && slices.ContainsFunc(in.Profile.Effects, func(e profile.Effect) bool {
		if e.Kind != profile.KindExec || e.Capability != of || e.Error != "" {
			return false
		}
		words := e.Argv.Words()
		return len(words) == 3 && words[1] == "-c" && slices.ContainsFunc(in.Arguments[of], func(a Argument) bool { return a.Value == words[2] })
	})
}
