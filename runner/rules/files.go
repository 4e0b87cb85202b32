package rules

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

func findSensitiveFiles(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		at, ok := places.Locate(e.Path)
		planted, routine := in.decoy(e.Path)
		if !ok || planted && !routine || in.madeItself(e) || in.listsProcesses(e) {
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
			d.object = "/proc/PID/" + path.Base(e.Path) // one finding for all processes
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
// process to list it: Debian's ps opens the environment of all, and what it prints is searched for decoys. It also
// reports the look-up of a variable of the session, unless another program stands in for one of its.
func (in Input) listsProcesses(e profile.Effect) bool {
	base := path.Base(e.Path)
	switch {
	case !strings.HasPrefix(e.Path, "/proc/") || base != "environ" && base != "maps":
		return false
	case e.Program == trace.SessionLookup:
		return !slices.ContainsFunc(in.Profile.Effects, func(other profile.Effect) bool {
			return other.Kind == profile.KindExec && other.Error == "" && lookupTools[path.Base(other.Path)] && !bin[path.Dir(other.Path)]
		})
	}
	return processTools[path.Base(e.Program)] && bin[path.Dir(e.Program)]
}

// lookupTools are the programs of a look-up of the session.
var lookupTools = map[string]bool{"ps": true, "pgrep": true, "pidof": true, "id": true, "whoami": true, "xargs": true, "cat": true, "strings": true, "tr": true,
	"grep": true, "egrep": true, "fgrep": true, "sed": true, "cut": true, "head": true, "tail": true, "sort": true, "uniq": true}

// undeclared says why the declaration does not cover a read of a secret place; false
// where it does. An operator's list decides alone; the server's own texts have to mention one of the topics.
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

// layout indexes the effects, so that judging one file does not search all of them.
type layout struct {
	made  map[string]time.Time // when each directory was made first
	moved map[string]bool      // paths that something was moved or linked to, or away from
	// lookups are the programs that each process ran, and its reads of the password database.
	lookups map[int][]int
}

func layoutOf(effects []profile.Effect) layout {
	l := layout{made: map[string]time.Time{}, moved: map[string]bool{}, lookups: map[int][]int{}}
	for i, e := range effects {
		switch {
		case e.Error != "":
		case strings.HasPrefix(e.Operation, "rename"), strings.HasPrefix(e.Operation, "link"):
			l.moved[e.Path] = true
		case e.Kind == profile.KindWrite && strings.HasPrefix(e.Operation, "mkdir"):
			if earliest, known := l.made[e.Path]; !known || e.Time.Before(earliest) {
				l.made[e.Path] = e.Time
			}
		case e.Kind == profile.KindExec, e.Kind == profile.KindRead && e.Path == "/etc/passwd":
			l.lookups[e.PID] = append(l.lookups[e.PID], i)
		}
	}
	return l
}

// madeItself reports whether a file lies in a directory that the server has made before,
// and that nothing was moved or linked into: a browser keeps its secrets in the profile
// that it makes for the session, and they are nobody's.
func (in Input) madeItself(e profile.Effect) (itself bool) {
	moved := in.layout.moved[e.Path]
	for at := e.Path; at != path.Dir(at); {
		at = path.Dir(at)
		moved = moved || in.layout.moved[at]
		if made, known := in.layout.made[at]; known && !made.After(e.Time) {
			itself = !moved // the outermost such directory decides
		}
	}
	return itself
}

// looksUpUser reports whether the shadow file was opened by getpwuid of the system's own Perl or Ruby: libc reads the
// shadow entry as well (getspnam(3)), right after the public password database. A program that is told the file's
// name, or that replaced the interpreter, reads it on purpose.
func (in Input) looksUpUser(e profile.Effect) bool {
	if e.Path != "/etc/shadow" {
		return false
	}
	var program profile.Effect // the last one of the process
	asked := false
	for _, i := range in.layout.lookups[e.PID] {
		switch other := in.Profile.Effects[i]; {
		case other.Time.After(e.Time):
		case other.Kind == profile.KindRead:
			asked = true
		case !other.Time.Before(program.Time):
			program, asked = other, false
		}
	}
	base := strings.TrimRight(path.Base(program.Path), "0123456789.")
	return asked && (base == "perl" || base == "ruby") && in.isInstalled(program.Path) &&
		!slices.ContainsFunc(program.Argv.Words(), func(word string) bool { return strings.Contains(word, "shadow") })
}

// isInstalled reports whether a program existed before the server: in a directory of programs, outside its packages
// and working directory, and never changed by it.
func (in Input) isInstalled(name string) bool {
	return path.Base(path.Dir(name)) == "bin" && !places.Packaged(name) && (in.Dir == "" || in.Dir == "/" || !places.Below(name, in.Dir)) &&
		!in.anyAt(name, func(other profile.Effect) bool { return other.Kind == profile.KindWrite && other.Error == "" })
}

// settings reports whether an environment file is the server's own: it reads it before any call.
func (in Input) settings(e profile.Effect) bool {
	return !asked(e.Phase) || in.anyAt(e.Path, func(other profile.Effect) bool {
		return other.Kind == profile.KindRead && !asked(other.Phase)
	})
}

// asked reports whether a phase is after the first call: by then a server has loaded its own files.
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

// movedAlong returns a decoy in a directory that was renamed: below the new name it can be read
// without being recognized.
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
