package scope

import (
	"errors"
	"slices"
	"strings"
)

var (
	errPath    = errors.New(`it is an absolute path, or one below the home directory ("~/"); "/" at its end: all below it`)
	errProgram = errors.New("it is a program: a name, or an absolute path, without arguments")
)

// parsePath reads a path of report.DeclaredScope.
func parsePath(entry string, d Given) (matcher, error) {
	plain := entry
	if rest, ok := strings.CutPrefix(entry, "~/"); ok {
		plain = "/" + rest
	}
	if plain[0] != '/' {
		return nil, errPath
	}
	inner := strings.TrimSuffix(plain[1:], "/")
	for name := range strings.SplitSeq(inner, "/") {
		switch {
		case name == "" && plain != "/", name == ".", name == "..":
			return nil, errors.New(`it has an empty, a "." or a ".." part: write the path without`)
		case strings.Contains(name, "**"):
			return nil, errors.New(`"**" is no pattern here: end with "/" for all that is below a directory`)
		}
	}
	if plain != entry {
		if d.Home == "" {
			return func(Use) bool { return false }, nil // the home is unknown
		}
		plain = strings.TrimSuffix(d.Home, "/") + plain
	}
	globs := strings.Split(strings.Trim(plain, "/"), "/")
	if plain == "/" {
		globs = nil
	}
	below := strings.HasSuffix(plain, "/")
	return func(u Use) bool { return matchPath(globs, below, u.Path) }, nil
}

// matchPath matches the elements of an absolute, clean path: all of them, or with below the first ones.
func matchPath(globs []string, below bool, file string) bool {
	rest, ok := strings.CutPrefix(file, "/")
	if !ok {
		return false
	}
	var names []string
	if rest != "" {
		names = strings.Split(rest, "/")
	}
	if below && len(names) > len(globs) {
		names = names[:len(globs)]
	}
	return slices.EqualFunc(globs, names, matchName)
}

// temporary are directories where any process can create a program of any name.
var temporary = []string{"/tmp/", "/var/tmp/", "/dev/shm/", "/run/", "/proc/"}

// parseProgram reads an entry of exec: a path as parsePath does, or a name, which
// names a program wherever it is installed.
func parseProgram(entry string, d Given) (matcher, error) {
	switch {
	case strings.ContainsAny(entry, " \t"):
		return nil, errProgram
	case strings.HasPrefix(entry, "/"), strings.HasPrefix(entry, "~/"):
		return parsePath(entry, d)
	case strings.Contains(entry, "/"), entry == "~", entry == ".", entry == "..", strings.Contains(entry, "**"):
		return nil, errProgram
	}
	return func(u Use) bool {
		i := strings.LastIndexByte(u.Path, '/')
		return i >= 0 && matchName(entry, u.Path[i+1:]) &&
			!slices.ContainsFunc(temporary, func(dir string) bool { return strings.HasPrefix(u.Path, dir) })
	}, nil
}
