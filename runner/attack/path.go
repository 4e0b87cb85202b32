package attack

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// pathForms are the ways to write a path that leads outside. The first two hide nothing; the
// others are for guards that know those.
var pathForms = []form{
	leading("as an absolute path", func(_, to string) string { return to }).plainly(),
	leading(`by ".."`, func(_, to string) string { return inputs.Up + to[1:] }).plainly(),
	leading(`by ".." behind the value`, func(honest, to string) string { return strings.TrimSuffix(honest, "/") + "/" + inputs.Up + to[1:] }),
	leading(`by ".." behind the directory of the value`, func(honest, to string) string { return path.Dir(honest) + "/" + inputs.Up + to[1:] }),
	sibling("to a sibling with the same beginning"),
	neighbour,
	near("by a link in the directory", true, func(f field, tail string) string {
		if path.IsAbs(f.core()) {
			return f.dir + "/" + tail
		}
		return tail
	}),
	linked("by a link to the file itself"),
	leading(`by "....//"`, func(_, to string) string { return strings.ReplaceAll(inputs.Up, "../", "....//") + to[1:] }),
	leading(`by "..%2f"`, func(_, to string) string { return strings.ReplaceAll(inputs.Up+to[1:], "/", "%2f") }),
	leading(`by "%2e%2e%2f"`, func(_, to string) string { return encoded.Replace(inputs.Up) + strings.ReplaceAll(to[1:], "/", "%2f") }),
	leading(`by "%252e%252e%252f"`, func(_, to string) string {
		return strings.ReplaceAll(encoded.Replace(inputs.Up)+strings.ReplaceAll(to[1:], "/", "%2f"), "%", "%25")
	}),
	leading(`by "./.."`, func(_, to string) string { return "./" + inputs.Up + to[1:] }),
	leading(`by "..\\"`, func(_, to string) string { return strings.ReplaceAll(inputs.Up+to[1:], "/", `\`) }),
	leading(`by "%2e%2e/"`, func(_, to string) string { return strings.ReplaceAll(inputs.Up, ".", "%2e") + to[1:] }),
	leading(`by "..././"`, func(_, to string) string { return strings.ReplaceAll(inputs.Up, "../", "..././") + to[1:] }),
	leading(`by ".." in full width`, func(_, to string) string {
		return strings.ReplaceAll(inputs.Up, "../", "．．／") + strings.ReplaceAll(to[1:], "/", "／")
	}),
	leading(`by "%c0%ae"`, func(_, to string) string {
		return strings.ReplaceAll(inputs.Up, "../", "%c0%ae%c0%ae%c0%af") + strings.ReplaceAll(to[1:], "/", "%c0%af")
	}),
	fileURL,
	leading(`below "~"`, func(_, to string) string { return "~/" + strings.TrimPrefix(to, path.Dir(inputs.OutsideDir)+"/") }),
	unmade(leading(`by ".." to a file that is not there`, func(_, to string) string { return inputs.Up + to[1:] })),
	unmade(sibling("to a file that is not there, in a sibling with the same beginning")),
	unmade(neighbour),
	leading("as an absolute path behind a blank", func(_, to string) string { return " " + to }),
	leading("as an absolute path behind a slash", func(_, to string) string { return "/" + to }),
}

// encoded writes dots and slashes as URLs may.
var encoded = strings.NewReplacer(".", "%2e", "/", "%2f")

// leading is a form by how it writes the path of a file outside.
func leading(name string, write func(honest, to string) string) form {
	return form{name: name, write: func(f field, _ inputs.Mark, number int) string {
		to := f.outside(number)
		return f.before + write(f.core(), to) + f.behind
	}}
}

// near is a form by how it writes the path of a file beside or in the directory of the value,
// which ends like that of a file outside.
func near(name string, link bool, write func(f field, tail string) string) form {
	return form{name: name, near: true, link: link, write: func(f field, _ inputs.Mark, number int) string {
		return f.before + write(f, strings.TrimPrefix(f.outside(number), path.Dir(inputs.OutsideDir)+"/")) + f.behind
	}}
}

// outside is where an attempt leads: a file, or the directory that it is in.
func (f field) outside(number int) string {
	dir := path.Dir(inputs.OutsideFile(number, ""))
	switch {
	case f.unmade && f.directory:
		return dir + "/new"
	case f.unmade:
		return dir + "/new" + f.ending
	case f.directory:
		return dir
	}
	return inputs.OutsideFile(number, f.ending)
}

func sibling(name string) form {
	f := near(name, false, func(f field, tail string) string { return beside(f, path.Base(f.dir)+"-"+tail) })
	f.sibling = true
	return f
}

// neighbour leads to a directory beside that of the value whose name is another: where that is allowed, the tool does
// not stay in the directory of the value, but in the one above.
var neighbour = func() form {
	f := near("to a directory beside it", false, func(f field, tail string) string {
		return beside(f, strings.Replace(tail, inputs.LinkName, path.Base(inputs.Neighbour(f.dir)), 1))
	})
	f.neighbour = true
	return f
}()

// beside is how a path is written that lies beside the directory of the value.
func beside(f field, tail string) string {
	if path.IsAbs(f.core()) {
		return path.Join(path.Dir(f.dir), tail)
	}
	return "../" + tail
}

// unmade changes a form to lead to a file that does not exist: tools that move or copy refuse to replace one.
func unmade(of form) form {
	write := of.write
	of.write = func(f field, m inputs.Mark, number int) string {
		f.unmade = true
		return write(f, m, number)
	}
	return of
}

// linked leads to a link in the directory of the value that is one to the file itself: a guard
// that looks at the directory alone sees nothing.
func linked(name string) form {
	return form{name: name, near: true, link: true, write: func(f field, _ inputs.Mark, number int) string {
		if path.IsAbs(f.core()) {
			return f.before + f.dir + "/" + inputs.FileLink(number, f.ending) + f.behind
		}
		return f.before + inputs.FileLink(number, f.ending) + f.behind
	}}
}

func (f form) plainly() form { f.control = true; return f }

// pathSteps are the attempts of family Path.
func pathSteps(fields []field, seen Seen) (all []step) {
	for _, form := range pathForms {
		for _, field := range fields {
			if len(all) < inputs.MaxOutside-maxCode-maxEgressFields-len(archiveForms)-maxMarkup && field.leads(seen) && (field.dir != "" || !form.near) && (form.control || !field.next) {
				all = append(all, step{family: Path, form: form, field: field})
			}
		}
	}
	for _, field := range fields { // whoever opens what a URL names may open files, too
		if len(all) < inputs.MaxOutside-maxCode-len(archiveForms)-maxMarkup && field.text && !field.leads(seen) && field.addresses() {
			all = append(all, step{family: Path, form: fileURL, field: field})
		}
	}
	return all
}

// fileURL is the form for what has to be a URL.
var fileURL = leading("as a URL of a file", func(_, to string) string { return "file://" + to })

// addresses reports whether a place is there for a URL.
func (f field) addresses() bool {
	return f.variable == "" && (strings.HasPrefix(f.value, "http") || forURL.MatchString(f.name))
}

// bare are values that may be the name of a file.
var bare = lazyregexp.New(`^[\w.@+ -]{1,128}$`)

// relative are those that may be one in a directory, too.
var relative = lazyregexp.New(`^[\w.@+ -]{1,100}(?:/[\w.@+ -]{1,100}){0,8}$`)

// leads reports whether a path may come of a value: the place is called so, or a file
// was touched that has the value in its path, or is the value.
func (f field) leads(seen Seen) bool {
	last := f.name[strings.LastIndexByte(f.name, '.')+1:]
	name, _, _ := strings.Cut(last, "[")
	switch {
	case f.number:
		return numbered(f.value, seen.Files)
	case !f.text && !f.choice:
		return false
	case f.before != "" && !f.item, inputs.IsPath(name), path.IsAbs(f.core()) && slices.Contains(seen.Files, f.core()):
		return true
	}
	if wild.MatchString(f.core()) {
		return f.dir != ""
	}
	return relative.MatchString(f.core()) && slices.ContainsFunc(seen.Files, func(file string) bool { return strings.Contains(file, "/"+f.core()) })
}

// numbered reports whether a number stands in the name of a file that was touched.
func numbered(value string, files []string) bool {
	return value != "" && slices.ContainsFunc(files, func(file string) bool {
		return slices.Contains(integers.FindAllString(path.Base(file), maxFields), value)
	})
}

var integers = lazyregexp.New(`\d+`)

// frame finds what has to stay of a value before a path, and how the names of files end that
// it leads to.
func (f field) frame(seen Seen, dirs []string) field {
	if f.variable == "" && strings.HasPrefix(f.value, "file://") {
		f.before = "file://"
	}
	core := f.core()
	if f.ending = path.Ext(core); !fileEnding.MatchString(f.ending) {
		f.ending = ".txt"
	}
	f.planted = "note" + f.ending
	if name, ok := within(core, seen.Files); ok {
		f.directory, f.planted = true, name
	} else {
		f.directory = listed(core, seen.Listed)
	}
	for _, file := range seen.Files {
		if ending := path.Ext(file); core != "" && ending != "" && strings.HasSuffix(file, "/"+core+ending) && !strings.HasSuffix(file, "/"+core) {
			f.directory, f.ending, f.planted = false, "", "note"+ending // the server adds it
			break
		}
	}
	f.dir = f.base(seen, dirs)
	return f
}

var (
	// fileEnding matches the ending of a file's name.
	fileEnding = lazyregexp.New(`^\.[A-Za-z0-9]{1,8}$`)
	// inDir are the names of files in a directory, without those that hide.
	inDir = lazyregexp.New(`^\w[\w.-]{0,63}(?:/\w[\w.-]{0,63}){0,2}$`)
)

// within is the name of a file that was touched in the directory that a value names; false where it
// names none.
func within(core string, files []string) (name string, ok bool) {
	if core == "" || !bare.MatchString(path.Base(core)) {
		return "", false
	}
	for _, file := range files {
		if _, behind, found := strings.Cut(file, path.Join("/", core)+"/"); found && inDir.MatchString(behind) && name == "" {
			name = behind
		}
	}
	return name, name != ""
}

// listed reports whether a value names a directory that was listed.
func listed(core string, dirs []string) bool {
	return core != "" && slices.ContainsFunc(dirs, func(dir string) bool { return dir == path.Clean(core) || strings.HasSuffix(dir, path.Join("/", core)) })
}

// base is the directory that an honest value was joined to, or one of some directories that it
// lies in; "" where there is none.
func (f field) base(seen Seen, dirs []string) string {
	core := f.core()
	if core == "" {
		return ""
	}
	if f.encloses() {
		core = inputs.Packed
	}
	for _, dir := range dirs {
		if strings.HasPrefix(core, dir+"/") || core == dir {
			return dir
		}
	}
	for _, file := range seen.Files {
		for _, name := range []string{file, strings.TrimSuffix(file, path.Ext(file))} {
			if dir := JoinedTo(core, name); dir != "" {
				return dir
			}
		}
	}
	return ""
}

// wild matches glob patterns.
var wild = lazyregexp.New(`^[\w.@+*?/ -]{0,100}[*?][\w.@+*?/ -]{0,100}$`)

// JoinedTo returns the directory that a relative path was joined to, or that a glob pattern was resolved in, given
// the file that was opened; "" if they do not match.
func JoinedTo(value, file string) string {
	dir, joined := strings.CutSuffix(file, "/"+value)
	if !joined && wild.MatchString(value) {
		at := len(file)
		for range strings.Count(value, "/") + 1 {
			at = max(0, strings.LastIndexByte(file[:at], '/'))
		}
		dir = file[:at]
		joined, _ = path.Match(value, strings.TrimPrefix(file[at:], "/")) // no pattern, no match
	}
	if !joined || path.IsAbs(value) {
		return ""
	}
	return dir
}

// Bases are the directories that the values of honest calls of tools were joined to, or lie in,
// a few at most.
func (p Plan) Bases(honest map[string]json.RawMessage) (dirs []string) {
	for _, name := range slices.Sorted(maps.Keys(honest)) {
		of := report.Capability{Kind: report.CapabilityTool, Name: name}
		for _, f := range fieldsOf(Target{Of: of, Honest: honest[name]}, p.Seen[of], p.Dirs) {
			if f.dir != "" && !slices.Contains(dirs, f.dir) && len(dirs) < maxBases {
				dirs = append(dirs, f.dir)
			}
		}
	}
	return dirs
}

// Outside are the names of the files that attempts on honest calls of tools lead to, a few at most,
// as inputs.OutsideFilesOf takes them.
func (p Plan) Outside(honest map[string]json.RawMessage) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(honest)) {
		of := report.Capability{Kind: report.CapabilityTool, Name: name}
		for _, f := range fieldsOf(Target{Of: of, Honest: honest[name]}, p.Seen[of], p.Dirs) {
			if f.leads(p.Seen[of]) && f.planted != "note.txt" && !slices.Contains(names, f.planted) && len(names) < maxOutside {
				names = append(names, f.planted)
			}
		}
	}
	return names
}

// maxBases is how many directories get a link and a sibling, maxOutside how many names of files there
// are outside besides the usual ones.
const (
	maxBases   = 4
	maxOutside = 6
)

// core is the part of the value that a path takes the place of.
func (f field) core() string { return f.value[len(f.before) : len(f.value)-len(f.behind)] }
