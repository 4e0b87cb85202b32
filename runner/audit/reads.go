package audit

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/sources"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// Bounds on the server's code that is read: the number of files, the bytes of one, and of all.
const (
	maxSources     = 512
	maxSourceSize  = 2 << 20
	maxSourcesSize = 6 << 20
)

// reading collects the JavaScript and Python files that a server has loaded, to find out what it expects of services
// and of its environment. It is safe for concurrent use.
type reading struct {
	mu    sync.Mutex
	known map[string]bool
	// files are JavaScript, modules are Python, and data is in other texts.
	files, modules, data []string
	done                 bool
	// valued are the values of the code, once they have been read.
	valued *sources.Values
}

func (r *reading) event(e trace.Event) {
	if e.Op != trace.OpRead || e.Errno != "" {
		return
	}
	name := sourceOf(e.Path)
	if name == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[name] || len(r.known) >= 8*maxSources {
		return
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	r.known[name] = true
	switch path.Ext(name) {
	case ".py":
		r.modules = append(r.modules, name)
	case ".js", ".mjs", ".cjs":
		r.files = append(r.files, name)
	default:
		r.data = append(r.data, name)
	}
}

// fields returns the fields that the server's own package reads; nil if its files cannot be opened, and on the second
// call.
func (r *reading) fields(launcher Launcher) sources.Fields {
	files, ok := launcher.(Files)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok || r.done {
		return nil
	}
	r.done = true
	var reader sources.Reader
	eachText(files, own(r.files), reader.Add)
	return reader.Fields()
}

// variables returns the variables that the server's own package reads, beginning with those in its documentation's
// examples; nil if nothing can be opened.
func (r *reading) variables(launcher Launcher) (names []string) {
	add := func(found []string) { names = appendNew(names, found) }
	files, mine := r.mine(launcher)
	if len(mine) == 0 {
		return nil
	}
	if top := packageOf(mine[0]); top != "" {
		eachText(files, []string{top + "/README.md", top + "/smithery.yaml"}, func(text string) { add(sources.Configured(text)) })
	}
	eachText(files, mine, func(text string) { add(sources.Variables(text)) })
	return names
}

// tools returns possible names of tools in the code of the server's own package.
func (r *reading) tools(launcher Launcher) (names []string) {
	files, mine := r.mine(launcher)
	eachText(files, mine, func(text string) { names = appendNew(names, sources.Tools(text)) })
	return names
}

// values returns what the code of the server's own package may act on, with the data that it has read beside its code:
// of the first time that it is called. It is not safe for concurrent use.
func (r *reading) values(launcher Launcher) sources.Values {
	if r.valued != nil {
		return *r.valued
	}
	r.valued = &sources.Values{}
	files, mine := r.mine(launcher)
	if len(mine) == 0 {
		return *r.valued
	}
	eachText(files, mine, func(text string) { r.valued.AddProgram(text, path.Ext(mine[0]) == ".py") })
	eachText(files, r.beside(mine[0]), r.valued.AddData)
	return *r.valued
}

// beside returns the data files that were read in the directory of a program or of its package.
func (r *reading) beside(program string) (found []string) {
	dir := cmp.Or(packageOf(program), path.Dir(program))
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range r.data {
		if places.Within(name, dir) && !strings.Contains(name[len(dir):], "/node_modules/") {
			found = append(found, name)
		}
	}
	return found
}

func appendNew(names, found []string) []string {
	for _, name := range found {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// mine returns the files of the server's own package; none if nothing can be opened.
func (r *reading) mine(launcher Launcher) (Files, []string) {
	files, ok := launcher.(Files)
	if !ok {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if mine := own(r.files); len(mine) > 0 {
		return files, mine
	}
	return files, ownModules(r.modules)
}

// eachText passes the texts of files to read, within the bounds.
func eachText(files Files, names []string, read func(text string)) {
	left := maxSourcesSize
	for _, name := range names {
		text := head(files, name, min(left, maxSourceSize))
		read(text)
		left -= len(text)
	}
}

// cached matches a compiled Python module (PEP 3147).
var cached = lazyregexp.New(`^(.*/)__pycache__/([^/]+)\.cpython-\d+(?:\.opt-\d)?\.pyc$`)

// dataFiles has the extensions of texts with data. What package managers write says nothing of what a program acts on.
var (
	dataFiles = []string{".json", ".jsonl", ".csv", ".tsv", ".txt", ".yaml", ".yml", ".toml", ".ini", ".xml", ".dat", ".dic"}
	managed   = []string{"package.json", "package-lock.json", "tsconfig.json"}
)

// sourceOf returns the source or data file that a read belongs to; "" if it is none.
func sourceOf(name string) string {
	if match := cached.FindStringSubmatch(name); match != nil {
		name = match[1] + match[2] + ".py"
	}
	ext := path.Ext(name)
	if slices.Contains([]string{".js", ".mjs", ".cjs", ".py"}, ext) || slices.Contains(dataFiles, ext) && !slices.Contains(managed, path.Base(name)) {
		return name
	}
	return ""
}

// Modules that were installed, and modules of the standard library.
var (
	installed = lazyregexp.New(`^(.*/(?:site|dist)-packages/)([^/]+)`)
	standard  = lazyregexp.New(`/(?:lib|lib64|Lib)/python3[^/]*/`)
)

// ownModules returns the modules of the program itself or, if none of them lies outside the installed packages, those of
// the package that was loaded first. A hook of Python's start may load another before the program.
func ownModules(modules []string) (found []string) {
	var packaged []string
	top := ""
	for _, name := range modules {
		match := installed.FindStringSubmatch(name)
		switch {
		case match == nil && !standard.MatchString(name):
			found = append(found, name)
		case match != nil && !strings.HasPrefix(match[2], "_"): // hooks of package installers
			if top == "" {
				top = match[0]
			}
			if match[0] == top {
				packaged = append(packaged, name)
			}
		}
	}
	if found == nil {
		found = packaged
	}
	return found[:min(len(found), maxSources)]
}

// own returns the files of the package that was loaded first, apart from package managers. Other packages are
// dependencies.
func own(files []string) (found []string) {
	top, begun := "", false
	for _, name := range files {
		of := packageOf(name)
		if pkgmanager.Serves(of) {
			continue
		}
		if !begun {
			top, begun = of, true
		}
		if of == top && len(found) < maxSources {
			found = append(found, name)
		}
	}
	return found
}

// packageOf returns the directory of the npm package that a file is in; "" for none.
func packageOf(name string) string {
	const modules = "/node_modules/"
	i := strings.LastIndex(name, modules)
	if i < 0 {
		return ""
	}
	first, rest, _ := strings.Cut(name[i+len(modules):], "/")
	if strings.HasPrefix(first, "@") {
		second, _, _ := strings.Cut(rest, "/")
		first += "/" + second
	}
	return name[:i] + modules + first
}

// head returns the beginning of a file; "" if it cannot be opened.
func head(files Files, name string, most int) string {
	file, err := files.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // read-only
	text := make([]byte, max(most, 0))
	n, _ := file.ReadAt(text, 0) // a short read is fine
	return string(text[:n])
}
