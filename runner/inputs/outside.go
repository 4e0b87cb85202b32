package inputs

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// OutsideDir is a directory that no argument names but those which try to get out of
// where a tool is to stay. It is not in Options.Dir, for that is what the client's
// roots name.
const OutsideDir = "/var/tmp/mcpaudit-outside"

// OutsideFiles are ordinary files that are there before the server starts, by their
// paths below OutsideDir.
var OutsideFiles = []File{{"note.txt", []byte("Nobody needs this note.\n")}}

// Outside reports whether a path is that directory, or in it.
func Outside(name string) bool {
	return places.Within(name, OutsideDir)
}

// ways lead from a directory to the root: from wherever a relative path is joined to,
// and past whoever only looks at how an absolute one begins.
var ways = []func(Options) string{
	func(Options) string { return strings.Repeat("../", 16) },
	func(o Options) string { return o.dir() + "/" + strings.Repeat("../", strings.Count(o.dir(), "/")) },
}

// escaping makes a call whose paths lead out of wherever the tool is to stay; false
// when it has none, or all ways were tried.
func (f *Form) escaping(pool *Pool, mark Mark) (Case, bool) {
	for len(f.escapes) > 0 {
		way := f.escapes[0](f.options)
		f.escapes = f.escapes[1:]
		if len(f.given) > 0 || f.template != nil {
			return Case{}, false
		}
		d := f.draft(ShapeOutside, -1, pool, mark)
		d.outside = strings.TrimSuffix(way, "/")
		d.make()
		if d.escaped && d.fits() == yes {
			f.made++
			return Case{Shape: ShapeOutside, Arguments: json.RawMessage(canonical(d.arguments))}, true
		}
	}
	return Case{}, false
}

// escape is a path outside, for a place that asks for one.
func (d *draft) escape(n *node) (string, bool) {
	if d.outside == "" || !d.form.isPath(n) || isProgram(n) {
		return "", false
	}
	name := OutsideDir
	switch {
	case d.form.creates(n) && d.form.isDirectory(n):
		name = path.Join(OutsideDir, d.mark.ID())
	case d.form.creates(n):
		name = path.Join(OutsideDir, d.mark.File())
	case !d.form.isDirectory(n):
		name = path.Join(OutsideDir, OutsideFiles[0].Path)
	}
	d.escaped = true
	return d.outside + name, true
}

// hasPath reports whether a place, or one within it, asks for a path.
func (f *Form) hasPath(n *node) bool {
	return n != nil && (n.isLeaf() && f.isPath(n) && !isProgram(n) || slices.ContainsFunc(n.parts(), f.hasPath))
}
