package inputs

import (
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcpaudit/mcpaudit/runner/places"
)

// File is an ordinary file for tools that read files.
type File struct {
	// Path is relative to Options.Dir, with slashes.
	Path    string
	Content []byte
}

// FilesDir is the directory of the files that arguments name, relative to
// Options.Dir, and RepositoryDir that of the git repository.
const (
	FilesDir      = Word + "-files"
	RepositoryDir = Word + "-repository"
)

// LocalDir has the audit's own files in the sandbox: the certificate that the server is to trust, and the program that
// stands in for others.
const LocalDir = "/run/" + Word + "-local"

// Files returns the files that the creator of Options.Dir puts there before the server starts, for
// arguments that ask for a path to read. They are made at the first call, because the stages of the
// sandbox do not need them.
var Files = sync.OnceValue(func() []File {
	return slices.Concat(ordinary, documents(), repository(), accounts(), papers, configured, described)
})

// ordinary are texts, for tools that do not name a format.
var ordinary = []File{
	{FilesDir + "/note.txt", []byte("Shopping list\nmilk\nbread\n")},
	{FilesDir + "/data.json", []byte(`{"name": "notes", "items": [{"id": 1, "title": "milk"}, {"id": 2, "title": "bread"}]}` + "\n")},
	{FilesDir + "/todo.md", []byte("# To do\n\n- [ ] buy milk\n- [x] buy bread\n")},
	{FilesDir + "/table.csv", []byte("id,name,price\n1,milk,1.20\n2,bread,2.50\n")},
}

// described is what a tool that reads the description of a project looks for in a directory.
var described = []File{
	{FilesDir + "/README.md", []byte("# Notes\n\nShopping lists, and what to do.\n\n## Usage\n\nSee [what is to do](todo.md).\n")},
}

// configured are settings that a linter looks for beside the files that it is to check, and refuses to start without.
var configured = []File{{FilesDir + "/eslint.config.mjs", []byte("export default [];\n")}}

// spare is the name, without the extension, of the files that tools may delete.
const spare = "spare"

// documents returns files in the formats that tools ask for by an extension or a word, and spare
// copies of those that tools change.
func documents() []File {
	var all []File
	note := part{name: "note.txt", content: "milk and bread\n"}
	sources := tarred(note, part{name: "main.tex", content: "\\documentclass{article}\\begin{document}\\section{Notes}Milk and bread.\\end{document}\n"})
	for _, f := range []struct {
		ending  string
		content []byte
		changed bool
	}{
		{"xlsx", officeFile("xlsx"), true},
		{"docx", officeFile("docx"), true},
		{"pptx", officeFile("pptx"), true},
		{"pdf", embedded("notes.pdf"), true},
		{"db", embedded("notes.db"), true},
		{"ipynb", embedded("notes.ipynb"), true},
		{"png", picture(png.Encode), true},
		{"jpg", picture(func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, nil) }), false},
		{"gif", picture(func(w io.Writer, m image.Image) error { return gif.Encode(w, m, nil) }), false},
		{"svg", []byte(drawn), false},
		{"wav", sound(), false},
		{"zip", zipped(note), false},
		{"tar", sources, false},
		{"tgz", gzipped(sources), false},
		{"tar.gz", gzipped(sources), false},
		{"html", []byte("<!DOCTYPE html>\n<html><head><title>Notes</title></head><body><h1>Notes</h1><p>milk and bread</p></body></html>\n"), false},
		{"xml", []byte(xmlHead + "<notes><note id=\"1\">milk</note><note id=\"2\">bread</note></notes>\n"), false},
		{"yaml", []byte("name: notes\nitems:\n  - milk\n  - bread\n"), false},
		{"py", []byte("def total(prices):\n    return sum(prices)\n\n\nprint(total([1.2, 2.5]))\n"), false},
		{"js", []byte("const prices = [1.2, 2.5];\nconsole.log(prices.length);\n"), false},
		{"sql", []byte("SELECT id, title FROM notes;\n"), false},
		{"mmd", []byte("flowchart LR\n  A[milk] --> B[bread]\n"), false},
	} {
		all = append(all, File{FilesDir + "/notes." + f.ending, f.content})
		if f.changed {
			all = append(all, File{FilesDir + "/" + spare + "." + f.ending, f.content})
		}
	}
	return all
}

// Document returns a file with an extension; nil for none.
func Document(ending string) []byte {
	i := slices.IndexFunc(Files(), func(f File) bool { return f.Path == FilesDir+"/notes."+ending })
	if i < 0 {
		return nil
	}
	return Files()[i].Content
}

const drawn = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect width="8" height="16" fill="#336699"/></svg>` + "\n"

// aliases maps extensions to those of formats that are read alike.
var aliases = map[string]string{
	"xlsm": "xlsx", "xltx": "xlsx", "xls": "xlsx", "docm": "docx", "doc": "docx", "ppt": "pptx", "pptm": "pptx", "jpeg": "jpg", "htm": "html", "yml": "yaml",
	"sqlite": "db", "sqlite3": "db", "markdown": "md", "tsv": "csv", "mermaid": "mmd", "text": "txt", "mjs": "js", "bmp": "png", "webp": "png", "mp3": "wav",
	"tar.gz": "gz",
}

// file returns the path of an ordinary file.
func (o Options) file(i int) string { return o.dir() + "/" + ordinary[i].Path }

// having returns the paths of the files with an extension; spares: of those that may be deleted.
func (o Options) having(ending string, spares bool) (found []string) {
	if alias, known := aliases[ending]; known {
		ending = alias
	}
	for _, f := range Files() {
		if path.Dir(f.Path) == FilesDir && path.Ext(f.Path) == "."+ending && f.spare() == spares {
			found = append(found, o.dir()+"/"+f.Path)
		}
	}
	return found
}

// below returns the same paths in another directory, which the server was
// started for; or, within Options.Dir, the files that are in the directory, except hidden ones.
func (o Options) below(dir string, names []candidate) (found []candidate) {
	if !places.Within(dir, o.dir()) {
		for _, c := range names {
			name, _ := c.value.(string)
			found = append(found, candidate{value: path.Join(dir, strings.TrimPrefix(name, o.dir()))})
		}
		return found
	}
	for _, f := range Files() {
		if name := o.dir() + "/" + f.Path; places.Within(name, dir) && !strings.Contains(name, "/.") && len(found) < maxCandidates {
			found = append(found, candidate{value: name})
		}
	}
	return found
}

// spare reports whether no other call needs a file.
func (f File) spare() bool {
	return f.Path == ordinary[len(ordinary)-1].Path || strings.HasPrefix(path.Base(f.Path), spare+".")
}

// files returns the path of FilesDir, repository that of RepositoryDir.
func (o Options) files() string      { return strings.TrimSuffix(o.dir(), "/") + "/" + FilesDir }
func (o Options) repository() string { return strings.TrimSuffix(o.dir(), "/") + "/" + RepositoryDir }
