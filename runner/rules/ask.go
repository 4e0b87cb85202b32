package rules

import (
	"path"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// The functions below are for runner/exposure, which judges programs, files and destinations
// as the rules do.

// Routine returns a function that reports whether a started program is the server's own code in
// another process, or one that language runtimes start by themselves.
func (in Input) Routine() func(e profile.Effect) bool {
	in.ran = in.programs()
	return func(e profile.Effect) bool { return inquiry(e) || fromMemory(e.Path) || in.itself(e) || in.bundled(e) }
}

// Runtime reports whether a program runs the code that its arguments name or hold.
func Runtime(program string) bool { return runtimes.MatchString(path.Base(program)) }

// Ours returns a function that reports whether a file is the server's own, the system's or a temporary one.
func (in Input) Ours() func(name string) bool {
	own := in.ownPaths()
	return func(name string) bool { return own.owns(name) || own.temporary(name) || systemic(name) }
}

// AsksForRoots reports whether the server has asked the client for its roots.
func (in Input) AsksForRoots() bool {
	return slices.ContainsFunc(in.Outputs, func(o Output) bool { return o.Kind == report.OutputRequest && o.Method == "roots/list" })
}

// StatedBound returns the sentence in which a capability or the server says that it stays in
// some directory; "" if neither does.
func (in Input) StatedBound(of report.Capability) string {
	clause, _ := in.statedBound(of, false)
	return clause.Quote
}

// Confined reports whether a text limits a capability to a directory that an attempt leads out of.
func (in Input) Confined(a attack.Attempt) bool { return in.boundBy(a) != "" }

// Evaluated returns two answers of each tool that evaluated an argument as code, declared or
// not: to an undefined name, and to a text that is no code.
func (in Input) Evaluated() [][2]report.Output {
	var all [][2]report.Output
	in.eachEvaluated(func(e evaluated) { all = append(all, [2]report.Output{*e.name, *e.syntax}) })
	return all
}

// Succeeded returns a function that reports whether an attempt succeeded, and by which effect.
func (in Input) Succeeded() func(attack.Attempt) (profile.Effect, bool) {
	in.Attack.sight()
	left, ran := in.Attack.left(), in.Attack.sighted.ran
	return func(a attack.Attempt) (e profile.Effect, proven bool) {
		switch a.Family {
		case attack.Command:
			e, proven = ran[a.Call]
		case attack.Path, attack.Code:
			e, proven = in.Attack.to(a, left)
			proven = proven && !(a.Family == attack.Path && in.Attack.held(a, e)) || a.Formatted()
		case attack.Egress:
			e, proven = in.Attack.contacted(a, left)
		case attack.Query:
			var s attack.Statement
			if s, proven = in.Attack.leftString(a); !proven && !a.Control {
				s, proven = in.Attack.parsed(a, in.End)
			}
			e = profile.Effect{Time: s.Time, Detail: s.Protocol + ": " + clean(s.Text, 400)}
		case attack.Write:
			var s attack.Statement
			s, proven = in.Attack.wrote(a)
			e = profile.Effect{Time: s.Time, Detail: s.Protocol + ": " + clean(s.Text, 400)}
		case attack.Request:
			var q attack.Asking
			q, proven = in.Attack.changes(a)
			e = profile.Effect{Time: q.Time, Detail: "request: " + clean(q.Target+q.Line, 400)}
		case attack.Option:
			i := slices.IndexFunc(in.Attack.Profile.Effects, func(e profile.Effect) bool {
				return e.Kind == profile.KindExec && e.Capability == a.Of && obeys(e, a)
			})
			proven = i >= 0
		}
		return e, proven
	}
}

// Left returns a function that reports whether an attempt left its directory, although it found
// nothing there: the kernel looked for a name outside. Attempts that the kernel stopped (EXDEV of
// openat2, EACCES of Landlock) have not.
func (in Input) Left() func(attack.Attempt) bool {
	all := map[place]bool{}
	for _, e := range in.Attack.Profile.Effects {
		if number, ok := inputs.OutsideNumber(e.Path, in.Attack.Lures); ok && e.Kind == profile.KindAttempt && (e.Error == "ENOENT" || e.Error == "ENOTDIR") {
			all[place{e.Capability, number}] = true
		}
	}
	return func(a attack.Attempt) bool { return a.Family == attack.Path && all[place{a.Of, a.File}] }
}
