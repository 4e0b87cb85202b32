package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

func findSensitiveFiles(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		at, ok := places.Locate(e.Path)
		planted, routine := in.decoy(e.Path)
		if !ok || planted && !routine || in.madeItself(e) || listsProcesses(e) {
			return false
		}
		why, found := in.undeclared(at, e, d)
		if !found {
			return false
		}
		d.severity = report.SeverityHigh
		switch {
		case at.Routine || routine:
			if unasked(in, e) {
				return false
			}
			d.severity = report.SeverityMedium
		case strings.HasPrefix(path.Base(e.Path), ".env") && in.settings(e):
			return false
		}
		d.object = e.Path
		if strings.HasPrefix(e.Path, "/proc/") {
			d.object = "/proc/PID/" + path.Base(e.Path) // whoever reads one reads all
		}
		d.message = sentence("%s read %s (%s), %s", subject(e), clean(e.Path, 256), at.What, why)
		if in.looksUpUser(e) {
			d.severity = report.SeverityInfo
			d.message = sentence("%s read %s (%s), as Perl and Ruby do when they look up a user", subject(e), clean(e.Path, 256), at.What)
		}
		return true
	}, profile.KindRead)
}

// processTools are the programs that list processes.
var processTools = map[string]bool{"ps": true, "top": true, "pgrep": true, "pkill": true, "pidof": true, "pstree": true, "htop": true, "lsof": true, "fuser": true, "killall": true}

// listsProcesses reports whether a program of the system opened the environment or the mappings of a
// process to list it: Debian's ps opens the environment of all, and what it prints is searched for decoys.
func listsProcesses(e profile.Effect) bool {
	base := path.Base(e.Path)
	return strings.HasPrefix(e.Path, "/proc/") && (base == "environ" || base == "maps") && processTools[path.Base(e.Program)] && bin[path.Dir(e.Program)]
}

// undeclared says how the declaration does not cover a read of a secret place; false
// where it does. The list of an operator is the last word; what only the server says
// of itself has to have one of the topics.
func (in Input) undeclared(at places.Secret, e profile.Effect, d *draft) (why string, found bool) {
	answer, clause := in.Scope.Answer(e.Capability, scope.Use{Kind: scope.UseRead, Path: e.Path})
	switch {
	case answer == scope.Exceeded:
		d.exceeded = true
		return beyond(clause), true
	case answer == scope.Allowed && clause.Source == report.ScopeSpec, speaks(in.Scope.Covering(e.Capability), at.Topics):
		return "", false
	}
	return "which nothing in its declaration speaks of", true
}

// madeItself reports whether a file lies in a directory that the server has made before,
// and that nothing was moved or linked into: a browser keeps its secrets in the profile
// that it makes for the session, and they are nobody's.
func (in Input) madeItself(e profile.Effect) bool {
	made := ""
	for _, other := range in.Profile.Effects {
		if other.Kind == profile.KindWrite && other.Error == "" && strings.HasPrefix(other.Operation, "mkdir") &&
			!other.Time.After(e.Time) && places.Below(e.Path, other.Path) && (made == "" || places.Within(made, other.Path)) {
			made = other.Path
		}
	}
	return made != "" && !slices.ContainsFunc(in.Profile.Effects, func(other profile.Effect) bool {
		moved := strings.HasPrefix(other.Operation, "rename") || strings.HasPrefix(other.Operation, "link")
		return moved && other.Error == "" && places.Within(e.Path, other.Path) && places.Within(other.Path, made)
	})
}

// looksUpUser reports whether the shadow file was opened by getpwuid of the machine's own Perl or Ruby: they ask libc for
// the shadow entry, too (getspnam(3)), right after the password database was opened, which every process may read. Who
// names the file to them, or put another program in their place, asks for it.
func (in Input) looksUpUser(e profile.Effect) bool {
	if e.Path != "/etc/shadow" {
		return false
	}
	var program profile.Effect // that the process ran last
	asked := false
	for _, other := range in.Profile.Effects {
		if other.PID != e.PID || other.Time.After(e.Time) || other.Error != "" {
			continue
		}
		switch {
		case other.Kind == profile.KindExec && !other.Time.Before(program.Time):
			program, asked = other, false
		case other.Kind == profile.KindRead && other.Path == "/etc/passwd":
			asked = true
		}
	}
	base := strings.TrimRight(path.Base(program.Path), "0123456789.")
	return asked && (base == "perl" || base == "ruby") && in.isInstalled(program.Path) &&
		!slices.ContainsFunc(program.Argv.Words(), func(word string) bool { return strings.Contains(word, "shadow") })
}

// isInstalled reports whether a program is one that was there before the server: in a directory of programs, neither among
// its packages nor in its working directory, and never changed by it.
func (in Input) isInstalled(name string) bool {
	return path.Base(path.Dir(name)) == "bin" && !places.Packaged(name) && (in.Dir == "" || in.Dir == "/" || !places.Below(name, in.Dir)) &&
		!in.anyAt(name, func(other profile.Effect) bool { return other.Kind == profile.KindWrite && other.Error == "" })
}

// settings reports whether an environment file is the server's own: it reads it
// before any call, or has done so.
func (in Input) settings(e profile.Effect) bool {
	return !asked(e.Phase) || in.anyAt(e.Path, func(other profile.Effect) bool {
		return other.Kind == profile.KindRead && !asked(other.Phase)
	})
}

// asked reports whether the first call had come: what the server loads for itself
// it has loaded by then.
func asked(phase report.Phase) bool {
	return phase == report.PhaseCall || phase == report.PhaseIdle || phase == report.PhaseShutdown
}

func findDecoyReads(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		file := e.Path
		if e.Kind == profile.KindLook && !replaced(e) {
			return false
		}
		if moved, ok := in.movedAlong(e); ok {
			file = moved
		}
		planted, routine := in.decoy(file)
		if !planted || routine {
			return false
		}
		what := "a planted file"
		at, ok := places.Locate(file)
		if ok {
			what = at.What
		}
		verb := "read"
		if replaced(e) {
			verb = "gave another name to"
		}
		e.Path = file
		why, found := in.undeclared(at, e, d)
		d.severity, d.object = report.SeverityHigh, file
		d.message = sentence("%s %s the decoy secret %s (%s), %s", subject(e), verb, clean(file, 256), what, why)
		return found
	}, profile.KindRead, profile.KindLook)
}

// movedAlong is a decoy in a directory that was given another name: below that
// name it can be read without being known.
func (in Input) movedAlong(e profile.Effect) (string, bool) {
	if !replaced(e) {
		return "", false
	}
	for _, c := range in.Decoys {
		if !c.Routine && strings.HasPrefix(c.Path, strings.TrimSuffix(e.Path, "/")+"/") {
			return c.Path, true
		}
	}
	return "", false
}

func (in Input) decoy(name string) (planted, routine bool) {
	i := slices.IndexFunc(in.Decoys, func(c Decoy) bool { return c.Path == name })
	if i < 0 {
		return false, false
	}
	return true, in.Decoys[i].Routine
}
