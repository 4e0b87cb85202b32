package exposure

import (
	"path"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
)

// scratch is the directory of the paths that the audit makes up.
const scratch = "/tmp"

var fileKinds = map[profile.Kind]report.ExposureKind{
	profile.KindRead: report.ExposesFileRead, profile.KindList: report.ExposesFileRead,
	profile.KindWrite: report.ExposesFileWrite, profile.KindDelete: report.ExposesFileDelete,
}

// file notes a file that was used. The server's own files are an exposure only if an argument
// names them.
func (b *builder) file(e profile.Effect) {
	if e.Error != "" || places.Within(e.Path, inputs.LocalDir) {
		return
	}
	seen := sighting{evidence: e.Evidence()}
	for _, a := range b.arguments(e.Capability) {
		reach, bound := b.names(a, e.Path)
		if reach == "" || seen.reach != "" && !reach.AtLeast(seen.reach) {
			continue
		}
		seen.reach, seen.argument, seen.bound = reach, a.Field, bound
	}
	if seen.reach != "" {
		if bound := b.bound(e); bound != "" {
			seen.reach, seen.bound = report.ReachPartial, bound
		}
	}
	if seen.reach == "" {
		if unsure(e) || e.Within != "" || b.ours(e.Path) {
			return
		}
		seen.reach, seen.bound = report.ReachFixed, e.Path
	}
	b.note(e.Capability, fileKinds[e.Kind], seen)
	if database(e.Path) && e.Kind != profile.KindDelete {
		b.databaseFile(e, seen)
	}
}

// names returns how much of a path an argument decides: all of it, or the part below the
// returned bound; "" for nothing.
func (b *builder) names(a rules.Argument, name string) (reach report.Reach, bound string) {
	value, ok := pathOf(a.Value, b.Home)
	switch {
	case !ok:
		return "", ""
	case inputs.Outside(name):
		if strings.Contains(value, inputs.OutsideDir) {
			return report.ReachArbitrary, ""
		}
		return "", ""
	case path.IsAbs(value):
		value = path.Clean(value)
		if value == "/" || !goesOn(name, value) || value == scratch && name != value {
			return "", "" // a server may have its own files there
		}
		if a.Given || places.Within(value, scratch) {
			return report.ReachArbitrary, ""
		}
		return report.ReachPartial, "below " + path.Dir(value) // the server may have offered the value itself
	}
	value = path.Clean(value)
	at := strings.LastIndex(name, "/"+value)
	if at < 1 || !distinctive(value) || !goesOn(name, name[:at+1]+value) {
		return "", ""
	}
	return report.ReachPartial, "below " + name[:at]
}

// pathOf returns the part of a value that may be a path: the path of a file: URL, the rest of
// another URL after its scheme, or the value itself, with "~" replaced by the home.
func pathOf(value, home string) (string, bool) {
	value = strings.TrimSpace(value)
	if scheme, rest, isURL := strings.Cut(value, "://"); isURL {
		if scheme != "file" {
			rest = strings.TrimPrefix(rest, "/")
		}
		value = rest
	}
	if rest, ofHome := strings.CutPrefix(value, "~/"); ofHome && home != "" {
		value = home + "/" + rest
	}
	return value, len(value) > 1 && value != ".." && !strings.ContainsAny(value, "\n\x00")
}

// goesOn reports whether a path equals another one, lies below it, or extends its name:
// "note.md" and "note.md.tmp" for "note".
func goesOn(name, from string) bool {
	rest, ok := strings.CutPrefix(name, from)
	return ok && (rest == "" || rest[0] == '/' || strings.ContainsRune(".~-_", rune(rest[0])) && !strings.Contains(rest, "/"))
}

// minDistinctive is the least length in bytes of a value whose occurrence in an effect of the
// same call is no coincidence.
const minDistinctive = 4

func distinctive(value string) bool {
	_, marked := inputs.Marked(value)
	return marked || len(value) >= minDistinctive
}

// bound returns the bound of the paths that a capability takes: a directory on the command
// line or in the environment, the client's roots, or a bound that it states itself. A path
// that led outside has none.
func (b *builder) bound(e profile.Effect) string {
	if inputs.Outside(e.Path) {
		return ""
	}
	if dir := b.dirBound(e.Path); dir != "" {
		return dir
	}
	if b.AsksForRoots() {
		return "the client's roots"
	}
	return b.StatedBound(e.Capability)
}

// dirBound returns the directory on the command line or in the environment that a path lies in.
func (b *builder) dirBound(name string) string {
	for _, root := range b.roots {
		if root != "/" && places.Within(name, root) {
			return "below " + root + " (command line)"
		}
	}
	for _, dir := range b.Dirs {
		if dir != "/" && places.Within(name, dir) {
			return "below " + dir + " (environment)"
		}
	}
	return ""
}

// database reports whether a file is a database of SQLite, by its name.
func database(name string) bool {
	switch path.Ext(name) {
	case ".db", ".sqlite", ".sqlite3", ".db3":
		return true
	}
	return false
}

// databaseFile notes the use of a database file. The trace does not show the statement: an
// argument that holds one decides at least a part.
func (b *builder) databaseFile(e profile.Effect, file sighting) {
	seen := sighting{reach: report.ReachFixed, bound: e.Path, evidence: file.evidence}
	for _, a := range b.arguments(e.Capability) {
		if statement.MatchString(a.Value) {
			seen.reach, seen.argument = report.ReachPartial, a.Field
		}
	}
	b.note(e.Capability, report.ExposesDatabaseQuery, seen)
}
