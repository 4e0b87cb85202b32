package squat

import (
	"path"
	"strings"
)

// launchers run a package by its name, which is the first argument behind these
// words that is no flag.
var launchers = map[string][][]string{
	"npx": {{}}, "bunx": {{}}, "uvx": {{}}, "pnpx": {{}},
	"npm": {{"exec"}, {"x"}}, "pnpm": {{"dlx"}}, "yarn": {{"dlx"}}, "bun": {{"x"}}, "uv": {{"tool", "run"}}, "pipx": {{"run"}},
}

// valued are flags whose value is an argument of its own; of those that are true the
// value is the package.
var valued = map[string]bool{
	"-p": true, "--package": true, "--from": true, "--spec": true, "--python": false, "--index": false, "--registry": false, "--with": false,
	"--index-url": false, "--cache": false, "-c": false, "--call": false,
}

// PackageOf is the package that a command line starts, without its version; "" where
// it names none.
func PackageOf(command []string) string {
	for i, word := range command {
		if name, ok := installed(word); ok {
			return name
		}
		for _, verbs := range launchers[path.Base(word)] {
			if rest := command[i+1:]; startsWith(rest, verbs) {
				return unversioned(argument(rest[len(verbs):]))
			}
		}
		if i > 0 && command[i-1] == "-m" && strings.HasPrefix(path.Base(command[0]), "python") {
			module, _, _ := strings.Cut(word, ".")
			return strings.ReplaceAll(module, "_", "-")
		}
	}
	return ""
}

// installed is the package in whose directory a file lies.
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

func startsWith(words, verbs []string) bool {
	if len(words) < len(verbs) {
		return false
	}
	for i, verb := range verbs {
		if words[i] != verb {
			return false
		}
	}
	return true
}

// argument is the first that is no flag, or the value of a flag that names the
// package.
func argument(words []string) string {
	for i := 0; i < len(words); i++ {
		flag, value, has := strings.Cut(words[i], "=")
		names, takes := valued[flag]
		switch {
		case !strings.HasPrefix(words[i], "-"):
			return words[i]
		case names && has:
			return value
		case names && i+1 < len(words):
			return words[i+1]
		case takes && !has:
			i++
		}
	}
	return ""
}

// unversioned cuts off what follows a name: @1.2.3, ==1.2.3, [extra]. What is no
// name (a URL, a path) is none.
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
