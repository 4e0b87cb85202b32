package attack

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// up leads to the root from any directory that is not too deep.
var up = strings.Repeat("../", 16)

// pathForms are the ways to write a path that leads outside. The first two hide nothing; the
// others are for guards that know those.
var pathForms = []form{
	leading("as an absolute path", func(_, to string) string { return to }).plainly(),
	leading(`by ".."`, func(_, to string) string { return up + to[1:] }).plainly(),
	leading(`by ".." behind the value`, func(honest, to string) string { return strings.TrimSuffix(honest, "/") + "/" + up + to[1:] }),
	leading(`by ".." behind the directory of the value`, func(honest, to string) string { return path.Dir(honest) + "/" + up + to[1:] }),
	leading(`by "....//"`, func(_, to string) string { return strings.ReplaceAll(up, "../", "....//") + to[1:] }),
	leading(`by "..%2f"`, func(_, to string) string { return strings.ReplaceAll(up+to[1:], "/", "%2f") }),
	leading(`by "%2e%2e%2f"`, func(_, to string) string { return encoded.Replace(up) + strings.ReplaceAll(to[1:], "/", "%2f") }),
	leading(`by "%252e%252e%252f"`, func(_, to string) string {
		return strings.ReplaceAll(encoded.Replace(up)+strings.ReplaceAll(to[1:], "/", "%2f"), "%", "%25")
	}),
	leading(`by "./.."`, func(_, to string) string { return "./" + up + to[1:] }),
	leading(`by "..\\"`, func(_, to string) string { return strings.ReplaceAll(up+to[1:], "/", `\`) }),
	leading("as an absolute path behind a blank", func(_, to string) string { return " " + to }),
	leading("as an absolute path behind a slash", func(_, to string) string { return "/" + to }),
}

// encoded writes dots and slashes as URLs may.
var encoded = strings.NewReplacer(".", "%2e", "/", "%2f")

// leading is a form by how it writes the path of a file outside.
func leading(name string, write func(honest, to string) string) form {
	return form{name: name, write: func(f field, _ inputs.Mark, number int) string {
		to := inputs.OutsideFile(number, f.ending)
		return f.before + write(f.core(), to) + f.behind
	}}
}

func (f form) plainly() form { f.control = true; return f }

// pathSteps are the attempts of family Path.
func pathSteps(fields []field, seen Seen) (all []step) {
	for _, form := range pathForms {
		for _, field := range fields {
			if len(all) < inputs.MaxOutside-maxCode && field.leads(seen) {
				all = append(all, step{family: Path, form: form, field: field})
			}
		}
	}
	return all
}

// bare are values that may be the name of a file.
var bare = regexp.MustCompile(`^[\w.@+ -]{1,128}$`)

// leads reports whether a path may come of a value: the place is called so, or a file
// was touched that has the value in its path.
func (f field) leads(seen Seen) bool {
	last := f.name[strings.LastIndexByte(f.name, '.')+1:]
	name, _, _ := strings.Cut(last, "[")
	switch {
	case !f.text:
		return false
	case f.before != "", inputs.IsPath(name):
		return true
	}
	return bare.MatchString(f.value) && slices.ContainsFunc(seen.Files, func(file string) bool { return strings.Contains(file, "/"+f.value) })
}

// frame finds what has to stay of a value before a path, and how the names of files end that
// it leads to.
func (f field) frame(seen Seen) field {
	if f.variable == "" && strings.HasPrefix(f.value, "file://") {
		f.before = "file://"
	}
	core := f.core()
	if f.ending = path.Ext(core); !slices.Contains([]string{".txt", ".md", ".json"}, f.ending) {
		f.ending = ".txt"
	}
	if core != "" && slices.ContainsFunc(seen.Files, func(file string) bool {
		return strings.HasSuffix(file, "/"+core+path.Ext(file)) && !strings.HasSuffix(file, "/"+core)
	}) {
		f.ending = "" // the server adds it
	}
	return f
}

// core is the part of the value that a path takes the place of.
func (f field) core() string { return f.value[len(f.before) : len(f.value)-len(f.behind)] }
