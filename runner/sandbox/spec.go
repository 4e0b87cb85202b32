package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/canary"
)

// spec is what the command line tells the first process of the sandbox.
type spec struct {
	// Mount is an empty directory to build the server's root below.
	Mount string `json:"mount"`
	// Dir is the working directory of the server, Home its home.
	Dir      string     `json:"dir"`
	Home     string     `json:"home"`
	Keep     []string   `json:"keep"`
	Canaries canary.Set `json:"canaries"`
	// Private are directories of the audit that the server must not see.
	Private []string `json:"private"`
	// Sockets are the paths of the machine's unix sockets, and BindOnly says that no
	// overlays are to be tried.
	Sockets  []string `json:"sockets"`
	BindOnly bool     `json:"bindOnly"`
	// Tracer is the tracer's command line without what it wraps.
	Tracer []string `json:"tracer"`
	// Network is what becomes of connections.
	Network report.Network `json:"network"`
	// Again: an earlier run has left a root, which comes as a descriptor.
	Again bool `json:"again"`
	// Command is the server's.
	Command []string `json:"command"`
}

// homeless is the home of a server whose user has none.
const homeless = "/home/mcpaudit"

// homeOf is the home that the environment names, if it can be one, without
// links: the sandbox writes to it in the making, and the trace names it so.
func homeOf(environ []string) string {
	for _, entry := range environ {
		value, ok := strings.CutPrefix(entry, "HOME=")
		if !ok {
			continue
		}
		if resolved, err := filepath.EvalSymlinks(value); err == nil {
			value = resolved
		}
		if filepath.IsAbs(value) && filepath.Clean(value) != "/" {
			return filepath.Clean(value)
		}
	}
	return homeless
}

// passed are the environment variables that a server gets from the user. The
// rest may be secrets: a user who wants the server to have one says so in the
// command (env NAME=VALUE server).
var passed = []string{
	"COLORTERM", "CONDA_PREFIX", "DENO_DIR", "GOPATH", "GOROOT", "JAVA_HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH",
	"LOGNAME", "NODE_PATH", "NVM_BIN", "NVM_DIR", "PATH", "PNPM_HOME", "PYENV_ROOT", "PYTHONHOME", "PYTHONPATH",
	"RBENV_ROOT", "SHELL", "TERM", "TZ", "USER", "VIRTUAL_ENV", "VOLTA_HOME",
}

// environment is the server's: what is passed on, the home and what is added.
func environment(environ []string, home string, added []string) []string {
	var env []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(passed, name) || strings.HasPrefix(name, "LC_") {
			env = append(env, entry)
		}
	}
	return append(append(env, "HOME="+home), added...)
}

// keep is what stays visible whatever the rules say: the working directory, the
// program with everything that its links lead to, and each argument that names
// something that exists, also behind a "=".
func keep(dir, program string, args []string) []string {
	named := []string{dir, program}
	for _, arg := range args {
		_, value, _ := strings.Cut(arg, "=")
		named = append(named, arg, value)
	}
	var kept []string
	for _, path := range named {
		if path == "" {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		for _, path := range links(filepath.Clean(path)) {
			kept = append(kept, path, project(path))
		}
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

// projects are the files and directories by which the top of a project is known.
var projects = []string{
	".git", ".venv", "Cargo.toml", "Gemfile", "build.gradle", "composer.json", "deno.json", "go.mod", "node_modules", "package.json",
	"pom.xml", "pyproject.toml", "pyvenv.cfg", "requirements.txt", "setup.py",
}

// project is what has to be visible with a path in a directory for temporary files: the
// highest directory above it that looks like the top of a project, or else the one that
// it is in, where programs look for their own files. Elsewhere it is the path. Where
// node_modules lies in the directory for temporary files itself it is node_modules.
func project(path string) string {
	i := slices.IndexFunc(tempDirs, func(temp string) bool { return isBelow(path, temp) })
	if i < 0 {
		return path
	}
	found := path
	if info, err := os.Stat(path); err == nil && !info.IsDir() && filepath.Dir(path) != tempDirs[i] {
		found = filepath.Dir(path)
	}
	for dir := found; dir != tempDirs[i]; dir = filepath.Dir(dir) {
		if slices.ContainsFunc(projects, func(name string) bool {
			_, err := os.Lstat(filepath.Join(dir, name))
			return err == nil
		}) {
			found = dir
		}
	}
	if above, _, within := strings.Cut(path, "/node_modules/"); within && above == tempDirs[i] {
		return above + "/node_modules"
	}
	return found
}

// sockets are the paths in a table of unix sockets (proc_net(5), unix).
func sockets(table string) []string {
	const path = 7
	var all []string
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > path && strings.HasPrefix(fields[path], "/") {
			all = append(all, filepath.Clean(fields[path]))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// links follows path one link at a time: each is a path that the server will go
// through. The end is the resolved path.
func links(path string) []string {
	const maxLinks = 40 // path_resolution(7)
	all := []string{path}
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = filepath.Clean(target)
		all = append(all, path)
	}
	if resolved, err := filepath.EvalSymlinks(all[0]); err == nil {
		all = append(all, resolved)
	}
	return all
}
