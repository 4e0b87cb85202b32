package audit

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcpaudit/mcpaudit/runner/sources"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// The bounds of the code of a server that is read: files, and bytes of one and of all.
const (
	maxSources     = 512
	maxSourceSize  = 2 << 20
	maxSourcesSize = 6 << 20
)

// reading collects which files of JavaScript a server has loaded, to read in them what
// it expects of services. It is safe for concurrent use.
type reading struct {
	mu    sync.Mutex
	known map[string]bool
	files []string
	done  bool
}

// event takes in one event of the trace.
func (r *reading) event(e trace.Event) {
	if e.Op != trace.OpRead || e.Errno != "" || !slices.Contains([]string{".js", ".mjs", ".cjs"}, path.Ext(e.Path)) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[e.Path] || len(r.known) >= 8*maxSources {
		return
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	r.known[e.Path] = true
	r.files = append(r.files, e.Path)
}

// fields are those that the code of the server's own package reads; nil where there is none
// that can be opened, and the second time.
func (r *reading) fields(launcher Launcher) sources.Fields {
	files, ok := launcher.(Files)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok || r.done {
		return nil
	}
	r.done = true
	var reader sources.Reader
	left := maxSourcesSize
	for _, name := range own(r.files) {
		text := head(files, name, min(left, maxSourceSize))
		reader.Add(text)
		left -= len(text)
	}
	return reader.Fields()
}

// own are the files of the package that was loaded first, package managers left out: the
// others are those that it depends on.
func own(files []string) (found []string) {
	top, begun := "", false
	for _, name := range files {
		of := packageOf(name)
		if slices.Contains([]string{"npm", "npx", "corepack", "pnpm", "yarn"}, path.Base(of)) {
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

// packageOf is the directory of the package of npm that a file is in; "" outside of any.
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

// head is the beginning of a file; "" where it cannot be opened.
func head(files Files, name string, most int) string {
	file, err := files.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // it was only read
	text := make([]byte, max(most, 0))
	n, _ := file.ReadAt(text, 0) // what there is of it
	return string(text[:n])
}
