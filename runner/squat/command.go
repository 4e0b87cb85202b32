package squat

import (
	"path"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
)

// PackageOf returns the package that a command line starts, without its version; "" for none.
func PackageOf(command []string) string {
	for i, word := range command {
		if name, ok := installed(word); ok {
			return name
		}
		if l, ok := pkgmanager.Launches(command[i:]); ok {
			return unversioned(l.Package)
		}
		if i > 0 && command[i-1] == "-m" && strings.HasPrefix(path.Base(command[0]), "python") {
			module, _, _ := strings.Cut(word, ".")
			return strings.ReplaceAll(module, "_", "-")
		}
	}
	return ""
}

// installed returns the package in whose directory a file lies.
func installed(file string) (string, bool) {
	i := strings.LastIndex(file, "node_modules/")
	if i < 0 || strings.HasPrefix(file[i:], "node_modules/.bin/") {
		return "", false
	}
	parts := strings.SplitN(file[i+len("node_modules/"):], "/", 3)
	if strings.HasPrefix(parts[0], "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1], true
	}
	return parts[0], parts[0] != ""
}

// unversioned returns a name without the rest: @1.2.3, ==1.2.3, [extra]; "" for a URL or a path.
func unversioned(spec string) string {
	if strings.Contains(spec, "://") || strings.HasPrefix(spec, ".") || strings.HasPrefix(spec, "/") || strings.HasPrefix(spec, "git+") {
		return ""
	}
	scope := ""
	if strings.HasPrefix(spec, "@") {
		scope, spec = "@", spec[1:]
	}
	if i := strings.IndexAny(spec, "@=<>~![;"); i >= 0 {
		spec = spec[:i]
	}
	if spec == "" {
		return ""
	}
	return scope + spec
}
