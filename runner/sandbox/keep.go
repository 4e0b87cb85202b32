package sandbox

import (
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/shim"
)

// keep returns what stays visible whatever the rules say: the working directory, the
// program and the file that it links to, and each argument that names an existing path,
// also after a "=". follower decides about other links: one in a repository may lead to
// any file of the user's.
func keep(dir, program string, args, searched []string) []string {
	named, follower := []string{dir, program}, newFollower(dir, searched)
	for _, arg := range args {
		_, value, _ := strings.Cut(arg, "=")
		named = append(named, arg, value)
	}
	at := func(path string) string {
		if filepath.IsAbs(path) {
			return filepath.Clean(path)
		}
		return filepath.Join(dir, path)
	}
	var kept []string
	if file, err := filepath.EvalSymlinks(at(program)); err == nil && program != "" {
		kept = append(kept, file)
		if tree := installation(file); tree != "" {
			kept = append(kept, tree)
		}
	}
	for _, path := range named {
		if path == "" {
			continue
		}
		path = at(path)
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		for _, path := range links(path, follower.follows) {
			kept = append(kept, path, project(path))
		}
	}
	slices.Sort(kept)
	return slices.Compact(kept)
}

// kept returns what of the machine stays visible to this launcher's server.
func (l *Launcher) kept() []string {
	if l.image != nil {
		return nil
	}
	program, err := shim.Lookup(l.command)
	if err != nil {
		program = "" // the shim will say so
	}
	named := l.command
	if l.Named != nil { // the rest is somebody else's, who names nothing of the user's
		named = l.Named
	}
	return keep(l.dir, program, named, filepath.SplitList(os.Getenv("PATH")))
}

// projects lists files and directories that mark the root of a project.
var projects = []string{
	".git", ".venv", "Cargo.toml", "Gemfile", "build.gradle", "composer.json", "deno.json", "go.mod", "node_modules", "package.json",
	"pom.xml", "pyproject.toml", "pyvenv.cfg", "requirements.txt", "setup.py",
}

// project returns what has to be visible with a path in a directory for temporary files: the
// highest directory above it that looks like the top of a project, or else the one that
// it is in, where programs look for their own files. Elsewhere it is the path. Where
// node_modules lies in the directory for temporary files itself it is node_modules.
func project(path string) string {
	i := slices.IndexFunc(tempDirs, func(temp string) bool { return places.Below(path, temp) })
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

// installation returns the tree of packages that a program was installed in, a virtual environment of Python or
// node_modules, where that is no part of the system; "" if there is none. It is the server's own: whoever installed
// it runs it, and it may keep its data there.
func installation(file string) string {
	if slices.ContainsFunc(programDirs, func(dir string) bool { return isWithin(file, dir) }) {
		return ""
	}
	if above, _, within := strings.Cut(file, "/node_modules/"); within {
		return above + "/node_modules"
	}
	for dir := filepath.Dir(filepath.Dir(file)); dir != "/" && dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, "pyvenv.cfg")); err == nil {
			return dir
		}
	}
	return ""
}

// isInstallation reports whether a directory is such a tree.
func isInstallation(dir string) bool { return installation(filepath.Join(dir, "bin/program")) == dir }

// links are a path and those that the links on its way make of it, one link at a time, as
// long as they are to be followed: each is a path that the server will go through.
func links(path string, follow func(link, target string) bool) []string {
	const maxLinks = 40 // path_resolution(7)
	all := []string{path}
	for range maxLinks {
		link, target, rest := firstLink(path)
		if link == "" || !follow(link, filepath.Join(target, rest)) {
			break
		}
		path = filepath.Join(target, rest)
		all = append(all, path)
	}
	return all
}

// firstLink finds the first link in a path, where it leads, and what of the path is
// behind it; "" if there is none.
func firstLink(path string) (link, target, rest string) {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		target, err := os.Readlink(path[:i])
		if err != nil {
			continue
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path[:i]), target)
		}
		return path[:i], filepath.Clean(target), path[i:]
	}
	return "", "", ""
}

// programDirs hold links that whoever administers the machine made.
var programDirs = []string{"/bin", "/etc", "/lib", "/lib64", "/sbin", "/usr"}

// follower decides which links are followed.
type follower struct {
	// dirs are the names of the working directory, searched those where programs are
	// searched.
	dirs, searched []string
}

func newFollower(dir string, searched []string) follower {
	f := follower{searched: searched}
	if !slices.Contains(systemDirs, dir) {
		f.dirs = links(dir, func(string, string) bool { return true }) // no link in a repository chose where the user is
	}
	return f
}

// follows reports whether the machine's user made a link, not an author of files on it: it is on the way to the
// working directory, in a system directory or on the PATH. A link within the working directory or node_modules
// may only lead elsewhere in there.
func (f follower) follows(link, target string) bool {
	at := filepath.Dir(link)
	modules, _, installed := strings.Cut(link, "/node_modules/")
	within := func(dir string) bool { return isWithin(at, dir) }
	switch {
	case slices.ContainsFunc(programDirs, within):
		return true
	case slices.ContainsFunc(f.dirs, func(dir string) bool { return isWithin(dir, link) || isWithin(target, dir) }):
		return true
	case installed:
		return isWithin(target, modules+"/node_modules")
	case slices.ContainsFunc(f.dirs, within), slices.Contains(tempDirs, at):
		return false
	}
	return slices.Contains(systemDirs, at) || slices.Contains(f.searched, at)
}

// isWithin reports whether path is dir or below it; both are clean.
func isWithin(path, dir string) bool { return places.Within(path, dir) }

// homesOf returns the home of sudo's caller, and the homes of the paths' owners that hold those paths.
func homesOf(paths []string, sudo string) []string {
	var homes []string
	if account, err := user.LookupId(sudo); err == nil && !slices.Contains(systemDirs, account.HomeDir) {
		homes = append(homes, filepath.Clean(account.HomeDir))
	}
	for _, path := range paths {
		var stat syscall.Stat_t
		if syscall.Stat(path, &stat) != nil {
			continue
		}
		if account, err := user.LookupId(strconv.Itoa(int(stat.Uid))); err == nil && places.Below(path, account.HomeDir) && !slices.Contains(systemDirs, account.HomeDir) {
			homes = append(homes, filepath.Clean(account.HomeDir))
		}
	}
	return homes
}
