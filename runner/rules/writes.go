package rules

import (
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

var writtenOutside = Rule{
	ID: "MCPA-FILE-002", Severity: report.SeverityHigh, Title: "File changed outside the declared scope",
	Description: "A file or directory was created, changed, renamed or deleted, with success, that neither the declared scope nor " +
		"an argument of the call has. High where an operator's writePaths has it not, where it belongs to the machine (/etc, /usr, " +
		"/boot, ...), or where secrets are kept. Medium for the other files in the user's home, where nothing in the declaration " +
		"speaks of files or of storing anything. Locks, the journals of SQLite and caches of compiled code are never findings; and " +
		"where no list denies them, nor are temporary files, the server's own package and working directory, directories that it has " +
		"made itself, the cache, and the places in the home that are called after it. What others run or obey unasked is " +
		"MCPA-PERSIST-001; what a tool changes that says readOnlyHint is MCPA-HINT-001.",
	Fix: "Write where the arguments say, to a directory named after the server below $XDG_STATE_HOME, or to temporary files; or say in the description what is written where.",
	Expected: "A server that keeps its data in a file right in the home whose name has nothing in common with its own, and never says " +
		"that it stores anything. Its working directory is not always known in a cluster; it is then guessed from its command.",
	Mitigation: "Run the server with a read-only root file system (readOnlyRootFilesystem: true, docker run --read-only) and a volume for " +
		"what it has to keep; list that in writePaths of the declared scope. {object} is then out of its reach.",
	References: []string{"OWASP MCP02:2025", "SAFE-T1104"},
}

var readOutside = Rule{
	ID: "MCPA-FILE-005", Severity: report.SeverityHigh, Title: "File read outside the declared scope",
	Description: "A file or directory was opened for reading, with success, and the list of the operator's scope for reading has it not. " +
		"Without such a list there is no such finding. No findings are what an argument of the call named, temporary files, the server's " +
		"own package and working directory, and what runtimes and libraries read by themselves.",
	Fix: "Read only what the scope lists; or have the operator add the path to readPaths, if the server needs it.",
	Expected: "A list that was written without an audit mostly lacks some file that the server does need: the finding names it, " +
		"and the operator decides.",
	Mitigation: "Mount only the listed paths into the server's container, so that {object} is not there; or add it to readPaths of the declared scope.",
	References: []string{"OWASP MCP02:2025", "SAFE-T1104"},
}

// storing are the words of those who keep files.
var storing = []string{"save", "saves", "saved", "store", "stores", "stored", "storage", "write", "writes", "persist", "persists",
	"persistent", "persistence", "database", "sqlite", "download", "downloads", "export", "exports", "backup", "disk", "memory",
	"config", "configuration", "settings", "log", "logs", "cache", "install", "installs", "history"}

func findWrites(in Input) []draft {
	own := in.ground()
	return each(in, func(e profile.Effect, d *draft) bool {
		answer, clause := in.Scope.Answer(e.Capability, scope.Use{Kind: scope.UseWrite, Path: e.Path})
		// Under a list, or where the machine's files are, the mark of a call in a name does
		// not tell why it lies there: the server chose the directory.
		wanted := in.wanted(e)
		if answer == scope.Exceeded || systemic(e.Path) {
			_, wanted = in.Explains(e)
		}
		if answer == scope.Allowed || wanted || inputs.Outside(e.Path) || byproduct(e.Path) {
			return false
		}
		if _, lasts := lastingAt(e.Path); lasts {
			return false // found as persistence
		}
		d.severity, d.object = report.SeverityHigh, own.area(e.Path)
		did := subject(e) + " " + change(e) + " " + clean(e.Path, 256)
		if answer == scope.Exceeded {
			d.exceeded, d.message = true, sentence("%s; %s", did, beyond(clause))
			return isFile(e.Path) && !in.removed(e.Path)
		}
		_, readOnly := in.Scope.Hint(e.Capability, "readOnlyHint")
		if readOnly || own.temporary(e.Path) || own.owns(e.Path) {
			return false
		}
		return in.foreign(own, e, did, d)
	}, profile.KindWrite, profile.KindDelete)
}

// foreign judges a change of what is not the server's own, which no list of a scope
// speaks of.
func (in Input) foreign(own ground, e profile.Effect, did string, d *draft) bool {
	covering := in.Scope.Covering(e.Capability)
	inside, home := own.inHome(e.Path)
	switch at, secret := locate(e.Path); {
	case secret && !at.routine:
		d.message = sentence("%s (%s), which nothing in its declaration speaks of", did, at.what)
		return !speaks(covering, at.topics)
	case systemic(e.Path):
		d.message = sentence("%s, which belongs to the machine; nothing in its declaration speaks of it", did)
		return !covering.Mentions(nameWords(e.Path)...)
	case home:
		d.severity = report.SeverityMedium
		d.message = sentence("%s, in the user's home; nothing in its declaration speaks of storing anything", did)
		first, _, _ := strings.Cut(inside, "/")
		return len(covering.Files) == 0 && !covering.Mentions(storing...) && !covering.Mentions(nameWords(first)...)
	}
	return false
}

// findReads leaves out what a server loads before its first call: see scope.Use.
func findReads(in Input) []draft {
	own := in.ground()
	return each(in, func(e profile.Effect, d *draft) bool {
		answer, clause := in.Scope.Answer(e.Capability, scope.Use{Kind: scope.UseRead, Path: e.Path})
		planted, _ := in.canary(e.Path)
		_, sensitive := locate(e.Path)
		if answer != scope.Exceeded || !asked(e.Phase) || planted || sensitive || in.wanted(e) || inputs.Outside(e.Path) ||
			!isFile(e.Path) || own.temporary(e.Path) || own.owns(e.Path) {
			return false
		}
		d.severity, d.object, d.exceeded = report.SeverityHigh, own.area(e.Path), true
		d.message = sentence("%s opened %s; %s", subject(e), clean(e.Path, 256), beyond(clause))
		return true
	}, profile.KindRead, profile.KindList)
}

// beyond says what the list of the operator allows instead.
func beyond(clause scope.Clause) string {
	return "by its declared scope it " + clean(clause.Means, 200)
}

// removed reports whether a temporary file was removed, or moved away, again.
func (in Input) removed(name string) bool {
	return temporary(name) && slices.ContainsFunc(in.Profile.Effects, func(e profile.Effect) bool {
		return e.Path == name && (e.Kind == profile.KindDelete || e.Kind == profile.KindRead && strings.HasPrefix(e.Operation, "rename"))
	})
}

// area returns what findings about files are told apart by: a server that fills a directory
// has done one thing. It is a secret's own path, the entry of the home that a path is
// in, or else its first two directories.
func (g ground) area(name string) string {
	if at, ok := locate(name); ok && !at.routine {
		return name
	}
	if inside, ok := g.inHome(name); ok {
		first, _, _ := strings.Cut(inside, "/")
		return g.home + "/" + first
	}
	parts := strings.SplitN(name, "/", 4)
	return strings.Join(parts[:min(len(parts), 3)], "/")
}

// change says what was done to a file.
func change(e profile.Effect) string {
	switch {
	case e.Kind == profile.KindDelete:
		return "deleted"
	case strings.HasPrefix(e.Operation, "mkdir"):
		return "made the directory"
	case strings.HasPrefix(e.Operation, "rename"):
		return "renamed what is, or became,"
	case strings.HasPrefix(e.Operation, "link"), strings.HasPrefix(e.Operation, "symlink"):
		return "linked"
	}
	if strings.HasPrefix(e.Operation, "open") || strings.HasPrefix(e.Operation, "creat") {
		return "opened for writing"
	}
	return "changed"
}

// wanted reports whether a call is why a file was touched: an argument names it, or the
// server has made its name of one, which carries the mark of the call.
func (in Input) wanted(e profile.Effect) bool {
	_, explained := in.Explains(e)
	_, marked := inputs.Marked(e.Path)
	return explained || marked
}
