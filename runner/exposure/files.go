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

// scratch is the directory that the audit makes up paths in.
const scratch = "/tmp"

// auditDir is where the sandbox keeps what the audit brings along, such as stand-ins for programs.
const auditDir = "/run/marlow"

var fileKinds = map[profile.Kind]report.ExposureKind{
	profile.KindRead: report.ExposesFileRead, profile.KindList: report.ExposesFileRead,
	profile.KindWrite: report.ExposesFileWrite, profile.KindDelete: report.ExposesFileDelete,
}

// file notes a file that was used. What the server reads and keeps of its own is no exposure
// unless an argument names it.
func (b *builder) file(e profile.Effect) {
	if e.Error != "" || places.Within(e.Path, auditDir) {
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

// names returns how much of a path an argument decides: all of it, or what follows the
// directory that it returns as a bound; "" for nothing.
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
			return "", "" // a server has files of its own there
		}
		if a.Given || places.Within(value, scratch) {
			return report.ReachArbitrary, ""
		}
		return report.ReachPartial, "below " + path.Dir(value) // which the server may have offered itself
	}
	value = path.Clean(value)
	at := strings.LastIndex(name, "/"+value)
	if at < 1 || !distinctive(value) || !goesOn(name, name[:at+1]+value) {
		return "", ""
	}
	return report.ReachPartial, "below " + name[:at]
}

// pathOf returns what of a value may be a path: that of a file: URL, what stands behind the
// scheme of another, and a path below the home.
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

// goesOn reports whether a path is another one, lies below it, or has that name with more
// behind it: "note.md" and "note.md.tmp" for "note".
func goesOn(name, from string) bool {
	rest, ok := strings.CutPrefix(name, from)
	return ok && (rest == "" || rest[0] == '/' || strings.ContainsRune(".~-_", rune(rest[0])) && !strings.Contains(rest, "/"))
}

// minDistinctive is the length in bytes from which on a value is no coincidence where it
// occurs in an effect of the same call.
const minDistinctive = 4

func distinctive(value string) bool {
	_, marked := inputs.Marked(value)
	return marked || len(value) >= minDistinctive
}

// bound returns what was seen to bound the paths that a capability takes: a directory on the
// command line or in the environment, the client's roots, or what it says itself. What led
// outside has none.
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

// databaseFile notes the use of a database in a file. The trace does not show the statement:
// one that an argument holds decides a part of it, as far as is known.
func (b *builder) databaseFile(e profile.Effect, file sighting) {
	seen := sighting{reach: report.ReachFixed, bound: e.Path, evidence: file.evidence}
	for _, a := range b.arguments(e.Capability) {
		if statement.MatchString(a.Value) {
			seen.reach, seen.argument = report.ReachPartial, a.Field
		}
	}
	b.note(e.Capability, report.ExposesDatabaseQuery, seen)
}
