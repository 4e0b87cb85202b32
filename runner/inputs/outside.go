package inputs

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// OutsideDir is a directory that no argument names but those which try to get out of
// where a tool is to stay. It is not in Options.Dir: the client's roots name that.
const OutsideDir = "/var/tmp/" + LinkName

// OutsideNote is an ordinary file that is there before the server starts, by its path below
// OutsideDir. OutsideFiles are those that are there as well where guards are tried: some for
// each numbered attempt to get there, for a server may put an ending behind a name.
var (
	OutsideNote  = File{"note.txt", []byte("Nobody needs this note.\n")}
	OutsideFiles = OutsideFilesOf(nil)
)

// MaxOutside is how many numbers there are of attempts to get to OutsideDir, from 1; those of
// Archives come behind.
const MaxOutside = 160

// OutsideFilesOf are OutsideFiles and those of more names: what a guard that looks at how a name ends
// lets through, and what a server looks for in a directory.
func OutsideFilesOf(names []string) (all []File) {
	for number := range MaxOutside + len(Archives) {
		for _, name := range slices.Concat([]string{"note", "note.txt", "note.md", "note.json"}, names) {
			all = append(all, File{strconv.Itoa(number+1) + "/" + name, OutsideNote.Content})
		}
	}
	return all
}

// OutsideFile is the file of a numbered attempt, with an ending such as ".md", or "".
func OutsideFile(number int, ending string) string {
	return OutsideDir + "/" + strconv.Itoa(number) + "/note" + ending
}

// LinkName is the name of a link to OutsideDir, in a directory that a tool is to stay in.
const LinkName = Word + "-elsewhere"

// FileLink is the name of a link to the file of an attempt with an ending, in such a directory.
func FileLink(number int, ending string) string {
	return LinkName + "-" + strconv.Itoa(number) + ending
}

// FileLinks are the names of those links for the endings of some names of files, by what they lead to.
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

// Sibling is a directory with the files of OutsideDir, beside one that a tool is to stay in:
// its name begins with that of the other.
func Sibling(dir string) string { return dir + "-" + LinkName }

// Neighbour is a directory with the same files, beside one that a tool is to stay in, whose name does not begin
// with that of the other: who may go there may go to the Sibling.
func Neighbour(dir string) string { return path.Join(path.Dir(dir), LinkName+"-beside") }

// NeighbourNumber returns the number of the attempt that led to a path in a Neighbour.
func NeighbourNumber(name string) (number int, ok bool) {
	if at := strings.Index(name, neighbour); at >= 0 {
		return numberBelow(name, name[:at+len(neighbour)-1])
	}
	return 0, false
}

// neighbour is how a path goes on in a Neighbour.
var neighbour = Neighbour("/x") + "/"

// OutsideNumber returns the number of the attempt that led to a path: in OutsideDir, by the
// link to it in a lure, or in the Sibling of one. A server that takes a payload for the name
// of a file makes such a directory elsewhere, which leads nowhere.
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

// numberBelow is the number that a path goes on with below a directory.
func numberBelow(name, dir string) (number int, ok bool) {
	rest, below := strings.CutPrefix(name, dir+"/")
	if !below {
		return 0, false
	}
	first, _, _ := strings.Cut(rest, "/")
	number, err := strconv.Atoi(first)
	return number, err == nil && number > 0
}

// IsPath reports whether a field of arguments is called what paths are called.
func IsPath(name string) bool { return has(split(name), fileWords) || has(split(name), directoryWords) }

// Outside reports whether a path is OutsideDir, or in it.
func Outside(name string) bool {
	return places.Within(name, OutsideDir)
}

// ways lead from a directory to the root: from wherever a relative path is joined to,
// and past whoever only looks at how an absolute one begins.
var ways = []func(Options) string{
	func(Options) string { return Up },
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
		name = path.Join(OutsideDir, OutsideNote.Path)
	}
	d.escaped = true
	return d.outside + name, true
}

// hasPath reports whether a place, or one within it, asks for a path.
func (f *Form) hasPath(n *node) bool {
	return n != nil && (n.isLeaf() && f.isPath(n) && !isProgram(n) || slices.ContainsFunc(n.parts(), f.hasPath))
}
