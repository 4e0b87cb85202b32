package inputs

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// OutsideDir is a directory that only arguments name which try to leave the tool's directory. It is not in
// Options.Dir, which the client's roots name.
const OutsideDir = "/var/tmp/" + LinkName

// OutsideNote is an ordinary file that exists before the server starts, by its path below OutsideDir.
var OutsideNote = File{"note.txt", []byte("Nobody needs this note.\n")}

// MaxOutside is the number of attempts to reach OutsideDir, from 1; those with Archives follow.
const MaxOutside = 232

// OutsideFilesOf returns the files in OutsideDir where guards are tried, by their paths below it. Each attempt has several,
// because a server may add an extension; names are additional ones that a guard may require, or a server
// looks for in a directory.
func OutsideFilesOf(names []string) (all []File) {
	for number := range MaxOutside + len(Archives) {
		for _, name := range slices.Concat([]string{"note", "note.txt", "note.md", "note.json"}, names) {
			all = append(all, File{strconv.Itoa(number+1) + "/" + name, OutsideNote.Content})
		}
	}
	return all
}

// OutsideFile returns the file of a numbered attempt, with an extension such as ".md", or "".
func OutsideFile(number int, ending string) string {
	return OutsideDir + "/" + strconv.Itoa(number) + "/note" + ending
}

// LinkName is the name of a link to OutsideDir in the directory of a tool.
const LinkName = Word + "-elsewhere"

// FileLink returns the name of a link to the file of an attempt in such a directory.
func FileLink(number int, ending string) string {
	return LinkName + "-" + strconv.Itoa(number) + ending
}

// FileLinks maps the names of those links to their targets, for the extensions of some names of files.
func FileLinks(names []string) map[string]string {
	all := map[string]string{}
	for _, name := range append([]string{"note.txt"}, names...) {
		if ending, ok := strings.CutPrefix(name, "note."); ok {
			for number := range MaxOutside {
				all[FileLink(number+1, "."+ending)] = OutsideFile(number+1, "."+ending)
			}
		}
	}
	return all
}

// Sibling returns a directory with the files of OutsideDir beside that of a tool, with the same beginning of the name.
func Sibling(dir string) string { return dir + "-" + LinkName }

// Neighbour returns a directory with the same files beside one that a tool should stay in, with a different beginning
// of its name. A tool that may access it may access the Sibling.
func Neighbour(dir string) string { return path.Join(path.Dir(dir), LinkName+"-beside") }

// NeighbourNumber returns the number of the attempt with this path in a Neighbour.
func NeighbourNumber(name string) (number int, ok bool) {
	if at := strings.Index(name, neighbour); at >= 0 {
		return numberBelow(name, name[:at+len(neighbour)-1])
	}
	return 0, false
}

// neighbour is the end of a Neighbour's name.
var neighbour = Neighbour("/x") + "/"

// OutsideNumber returns the number of the attempt that led to a path: in OutsideDir, by the
// link to it in a lure, or in the Sibling of one. Directories of these names elsewhere do not count: a
// server makes one if it uses a payload as the name of a file.
func OutsideNumber(name string, lures []string) (number int, ok bool) {
	if number, ok = numberBelow(name, OutsideDir); ok {
		return number, true
	}
	for _, lure := range lures {
		if number, ok = numberBelow(name, path.Join(lure, LinkName)); ok {
			return number, true
		}
		if number, ok = numberBelow(name, Sibling(lure)); ok {
			return number, true
		}
	}
	return 0, false
}

// Planted reports whether a path names a file in OutsideDir, or in the Sibling of a directory.
func Planted(name string) bool { return strings.Contains(name, LinkName+"/") }

// numberBelow returns the number after a directory in a path.
func numberBelow(name, dir string) (number int, ok bool) {
	rest, below := strings.CutPrefix(name, dir+"/")
	if !below {
		return 0, false
	}
	first, _, _ := strings.Cut(rest, "/")
	number, err := strconv.Atoi(first)
	return number, err == nil && number > 0
}

// IsPath reports whether a field of arguments has a usual name for paths.
func IsPath(name string) bool { return has(split(name), fileWords) || has(split(name), directoryWords) }

// Outside reports whether a path is OutsideDir, or in it.
func Outside(name string) bool { return places.Within(name, OutsideDir) }

// ways lead from a directory to the root: for relative paths, and for guards that only check the
// beginning of absolute ones.
var ways = []func(Options) string{
	func(Options) string { return Up },
	func(o Options) string { return o.dir() + "/" + strings.Repeat("../", strings.Count(o.dir(), "/")) },
}

// escaping makes a call whose paths lead out of the tool's directory; false
// without paths, or after all ways.
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

// escape returns a path outside, for a place that takes a path.
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
		name = path.Join(OutsideDir, OutsideNote.Path)
	}
	d.escaped = true
	return d.outside + name, true
}

// hasPath reports whether a place, or one within it, asks for a path.
func (f *Form) hasPath(n *node) bool {
	for leaf := range n.leaves() {
		if f.isPath(leaf) && !isProgram(leaf) {
			return true
		}
	}
	return false
}
