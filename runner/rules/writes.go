package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// storing are words by which a declaration speaks of storing files.
var storing = []string{"save", "saves", "saved", "store", "stores", "stored", "storage", "write", "writes", "persist", "persists",
	"persistent", "persistence", "database", "sqlite", "download", "downloads", "export", "exports", "backup", "disk", "memory",
	"config", "configuration", "settings", "log", "logs", "cache", "install", "installs", "history"}

func findWrites(in Input) []draft {
	own := in.ownPaths()
	return each(in, func(e profile.Effect, d *draft) bool {
		answer, clause := in.Scope.Answer(e.Capability, scope.Use{Kind: scope.UseWrite, Path: e.Path})
		// Against a list, and among the system's files, the mark of a call in a name excuses
		// nothing: the server chose the directory.
		wanted := in.wanted(e)
		if answer == scope.Exceeded || systemic(e.Path) {
			_, wanted = in.Explains(e)
		}
		if answer == scope.Allowed || wanted || inputs.Outside(e.Path) || isByproduct(e.Path) {
			return false
		}
		if _, _, lasts := in.persists(own, e, &draft{}); lasts {
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

// foreign judges a change of a file that is not the server's own, where no list of a scope decides.
func (in Input) foreign(own ownPaths, e profile.Effect, did string, d *draft) bool {
	covering := in.Scope.Covering(e.Capability)
	inside, home := own.inHome(e.Path)
	name := e.Path
	if strings.Contains(e.Operation, "chmod") || strings.Contains(e.Operation, "chown") { // of a directory: affects all in it
		name += "/"
	}
	switch at, secret := places.Locate(name); {
	case secret && !at.Routine:
		d.message = sentence("%s (%s), which nothing in its declaration speaks of", did, at.What)
		return !speaks(covering, at.Topics)
	case systemic(e.Path):
		d.message = sentence("%s, which belongs to the machine; nothing in its declaration speaks of it", did)
		return !covering.Mentions(nameWords(e.Path)...)
	case home && slices.Contains(in.Belongings, e.Path) && !covering.Mentions(aboutFiles...) && !covering.Mentions(nameWords(firstOf(inside))...):
		d.message = sentence("%s, which is the user's and was there before; nothing in its declaration speaks of the user's files", did)
		return true
	case home:
		d.severity = report.SeverityMedium
		d.message = sentence("%s, in the user's home; nothing in its declaration speaks of storing anything", did)
		return len(covering.Files) == 0 && !covering.Mentions(storing...) && !covering.Mentions(nameWords(firstOf(inside))...) && !namedAfter(covering, inside)
	}
	return false
}

// namedAfter reports whether a declaration mentions each word of a file's name: a tool that adds tasks may write tasks.json.
func namedAfter(covering scope.Declaration, file string) bool {
	about := nameWords(strings.TrimSuffix(path.Base(file), path.Ext(file)))
	return len(about) > 0 && !slices.ContainsFunc(about, func(word string) bool { return !covering.Mentions(word) })
}

// aboutFiles are words by which a declaration speaks of the user's files.
var aboutFiles = []string{"file", "files", "folder", "folders", "directory", "directories", "document", "documents", "home"}

// firstOf returns the first element of a relative path.
func firstOf(inside string) string {
	first, _, _ := strings.Cut(inside, "/")
	return first
}

// findReads leaves out what a server loads before its first call: see scope.Use.
func findReads(in Input) []draft {
	own := in.ownPaths()
	return each(in, func(e profile.Effect, d *draft) bool {
		answer, clause := in.Scope.Answer(e.Capability, scope.Use{Kind: scope.UseRead, Path: e.Path})
		planted, _ := in.decoy(e.Path)
		_, sensitive := places.Locate(e.Path)
		if answer != scope.Exceeded || !asked(e.Phase) || planted || sensitive || in.wanted(e) || inputs.Outside(e.Path) ||
			!isFile(e.Path) || own.temporary(e.Path) || own.owns(e.Path) {
			return false
		}
		d.severity, d.object, d.exceeded = report.SeverityHigh, own.area(e.Path), true
		d.message = sentence("%s opened %s; %s", subject(e), clean(e.Path, 256), beyond(clause))
		return true
	}, profile.KindRead, profile.KindList)
}

// beyond says what the operator's list allows.
func beyond(clause scope.Clause) string {
	return "by its declared scope it " + clean(clause.Means, 200)
}

// removed reports whether a temporary file was removed, or moved away, again.
func (in Input) removed(name string) bool {
	return temporary(name) && in.anyAt(name, func(e profile.Effect) bool {
		return e.Kind == profile.KindDelete || e.Kind == profile.KindRead && strings.HasPrefix(e.Operation, "rename")
	})
}

// area returns the object of a finding about a file, so that filling a directory is one finding: the path of a
// secret, else the entry of the home that a path is in, else its first two directories.
func (g ownPaths) area(name string) string {
	if at, ok := places.Locate(name); ok && !at.Routine {
		return name
	}
	if inside, ok := g.inHome(name); ok {
		return g.home + "/" + firstOf(inside)
	}
	parts := strings.SplitN(name, "/", 4)
	return strings.Join(parts[:min(len(parts), 3)], "/")
}

// change describes what was done to a file.
func change(e profile.Effect) string {
	switch {
	case e.Kind == profile.KindDelete:
		return "deleted"
	case strings.HasPrefix(e.Operation, "mkdir"):
		return "made the directory"
	case strings.HasPrefix(e.Operation, "rename"):
		return "renamed what is, or became,"
	case replaced(e):
		return "linked"
	}
	if strings.HasPrefix(e.Operation, "open") || strings.HasPrefix(e.Operation, "creat") {
		return "opened for writing"
	}
	return "changed"
}

// wanted reports whether the arguments of a call explain access to a file: one names it, or the
// file's name has the mark of the call.
func (in Input) wanted(e profile.Effect) bool {
	_, explained := in.Explains(e)
	_, marked := inputs.Marked(e.Path)
	return explained || marked
}
