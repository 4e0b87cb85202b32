package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// ownPaths holds where a server may read and write without being asked: its own package, its
// working directory, the directories that its command line and the operator's variables name, those that it has made
// itself, and those that the XDG base directory specification and its runtime give it by its name.
type ownPaths struct {
	home string
	dirs []string
	// made holds the directories that it has made in this audit.
	made map[string]bool
	// names holds words that may occur in the names of its own directories.
	names map[string]bool
}

func (in Input) ownPaths() ownPaths {
	g := ownPaths{home: strings.TrimSuffix(in.Home, "/"), made: map[string]bool{}, names: map[string]bool{}}
	g.name(manifest.Text(in.Manifest.ServerName))
	for _, arg := range in.Command {
		if !strings.HasPrefix(arg, "-") {
			g.name(arg)
		}
	}
	for _, e := range in.Profile.Effects {
		switch {
		case e.Kind == profile.KindWrite && strings.HasPrefix(e.Operation, "mkdir"):
			g.made[e.Path] = true
		case e.Phase == report.PhaseStartup && (e.Kind == profile.KindRead || e.Kind == profile.KindExec):
			g.brought(in.Command, e.Path)
		}
	}
	g.dirs = append(g.dirs, in.Roots()...)
	g.dirs = append(g.dirs, configuredPaths(in.Command, in.Env)...)
	if in.Dir != "" {
		g.dirs = append(g.dirs, in.Dir)
	}
	if in.AsksForRoots() {
		g.dirs = append(g.dirs, in.Opened...)
	}
	g.dirs = slices.DeleteFunc(g.dirs, func(dir string) bool { return dir == "/" || dir == g.home || places.Below(g.home, dir) })
	return g
}

// configuredPaths returns the paths that options and variables of the operator name, without those of the system.
func configuredPaths(command, env []string) (all []string) {
	for name, value := range configuration(command, env) {
		if name != "" && path.IsAbs(value) && !systemic(value) {
			all = append(all, path.Clean(value))
		}
	}
	return all
}

// name adds the words of a name, or of the last elements of a path: the name of a package
// precedes dist/index.js.
func (g ownPaths) name(text string) {
	parts := strings.Split(text, "/")
	for _, part := range parts[max(0, len(parts)-4):] {
		for _, word := range nameWords(part) {
			g.names[word] = true
		}
	}
}

// nameWords returns at most 16 distinctive words of a name: those of three letters and more, without
// digits around them.
func nameWords(text string) []string {
	found := words.Of(text[:min(len(text), 256)])
	for i, word := range found {
		found[i] = strings.Trim(word, "0123456789")
	}
	found = slices.DeleteFunc(found, func(word string) bool { return len(word) < 3 || lexicon().GenericWords[word] })
	return found[:min(len(found), 16)]
}

// brought learns from a file that was read, or run, at start-up and is named on the
// command line: the directory of the package that it is in, or, where it was named
// by a relative path, the directory that it was named from.
func (g *ownPaths) brought(command []string, name string) {
	for _, arg := range command {
		arg = path.Clean(arg)
		switch dir, found := strings.CutSuffix(name, "/"+arg); {
		case arg == "." || systemic(name):
		case arg == name:
			g.dirs = append(g.dirs, packageOf(name))
		case found && !path.IsAbs(arg):
			g.dirs = append(g.dirs, dir)
		}
	}
}

// packageOf returns the directory of a program, above those that a build makes.
func packageOf(name string) string {
	dir := path.Dir(name)
	for slices.Contains([]string{"dist", "build", "src", "bin", "lib", "out"}, path.Base(dir)) {
		dir = path.Dir(dir)
	}
	return dir
}

// owns reports whether a path is the server's own.
func (g ownPaths) owns(name string) bool {
	if places.WithinAny(name, g.dirs) || places.Packaged(name) || isByproduct(name) {
		return true
	}
	for dir := name; dir != "/" && dir != "." && dir != g.home; dir = path.Dir(dir) {
		if g.made[dir] {
			return true
		}
	}
	inside, ok := g.inHome(name)
	if at, secret := places.Locate(name); secret && !at.Routine { // even if the server has its name
		return false
	}
	return ok && g.matchesServerName(inside)
}

// inHome returns the path relative to the home; false for one that is not below it.
func (g ownPaths) inHome(name string) (string, bool) {
	if g.home == "" || !places.Below(name, g.home) {
		return "", false
	}
	return strings.CutPrefix(name, g.home+"/")
}

// xdgDirs are the directories of a home where each program has one of its own name
// (XDG base directory specification 0.8).
var xdgDirs = []string{".config/", ".local/share/", ".local/state/"}

// matchesServerName reports whether a path below the home lies in a cache, or where a program of the
// server's name keeps its files.
func (g ownPaths) matchesServerName(inside string) bool {
	if strings.HasPrefix(inside, ".cache/") || slices.ContainsFunc(cacheDirs, func(dir string) bool { return strings.HasPrefix(inside, dir) }) {
		return true
	}
	for _, shelf := range xdgDirs {
		if rest, ok := strings.CutPrefix(inside, shelf); ok {
			inside = rest
			break
		}
	}
	return slices.ContainsFunc(nameWords(firstOf(inside)), func(word string) bool { return g.names[word] })
}

// cacheDirs are the directories of a home that runtimes and package managers use themselves.
var cacheDirs = []string{".npm/", ".pnpm-store/", ".yarn/", ".bun/", ".cargo/registry/", ".config/configstore/", ".node-gyp/", ".gnupg/",
	".pki/nssdb/", ".local/share/pnpm/", ".local/share/uv/", ".config/matplotlib/", ".config/fontconfig/", ".python_history", ".node_repl_history"}

// isByproduct reports whether a file is a side effect of using another one, or of running
// a program: caches of compiled code, logs of npm, locks, the journals of SQLite (sqlite.org/tempfiles.html).
func isByproduct(name string) bool {
	base := path.Base(name)
	if slices.ContainsFunc([]string{".lock", "-journal", "-wal", "-shm", ".pid"}, func(suffix string) bool { return strings.HasSuffix(base, suffix) }) {
		return !systemic(name) || base == ".pwd.lock"
	}
	in := path.Base(path.Dir(name))
	return base == "__pycache__" || in == "__pycache__" && strings.Contains(base, ".pyc") || strings.Contains(name, "/.npm/_logs") ||
		strings.Contains(name, "/node-compile-cache/")
}

// scratches are directories for temporary files.
var scratches = []string{"/tmp", "/var/tmp", "/run/user"}

// temporary reports whether a path is in a directory for temporary files. A home is not one, even below /tmp.
func (g ownPaths) temporary(name string) bool {
	if g.home != "" && places.Below(name, g.home) && !slices.Contains(scratches, g.home) {
		return !isFile(name)
	}
	return temporary(name)
}

func temporary(name string) bool {
	return places.WithinAny(name, scratches) || !isFile(name)
}

// isFile reports whether a path names an ordinary file: no device, pipe or file of the kernel's.
func isFile(name string) bool {
	return path.IsAbs(name) && !places.Below(name, "/dev") && !places.Below(name, "/proc") && !places.Below(name, "/sys") &&
		!strings.HasPrefix(name, "/memfd:")
}

// systemic reports whether a path belongs to the operating system.
func systemic(name string) bool {
	return places.WithinAny(name, []string{"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/var/spool"})
}
