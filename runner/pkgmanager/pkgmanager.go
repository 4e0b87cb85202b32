// Package pkgmanager knows the programs that fetch the packages of a language and run
// them, and reads their command lines.
package pkgmanager

import (
	"path"
	"slices"
	"strings"
)

// Registry is the source of a package manager's packages.
type Registry string

// The registries that servers are published in. Other managers have their own.
const (
	NPM   Registry = "npm"
	PyPI  Registry = "pypi"
	Other Registry = ""
)

// Manager is a package manager.
type Manager struct {
	Registry Registry
	// Resolves: it fetches the imports of a program that it runs.
	Resolves bool
	// run are the subcommands that run a package, fetch those that install some; "" stands for no subcommand.
	run, fetch []string
	// quiet are flags that do not change which program is run; from are those that name the package,
	// after which the first word is the program.
	quiet, from []string
}

// table follows npx(1), npm(1), and the help of pnpm, yarn, bun, uv and pipx.
var table = map[string]Manager{
	"npx": {Registry: NPM, run: []string{""}, quiet: []string{"-y", "--yes", "-q", "--quiet"}, from: []string{"-p", "--package"}},
	"npm": {Registry: NPM, run: []string{"exec", "x"}, fetch: []string{"install", "i", "add", "ci", "update", "up", "init", "create"},
		quiet: []string{"-y", "--yes", "-q", "--quiet", "--"}, from: []string{"-p", "--package"}},
	"pnpx": {Registry: NPM, run: []string{""}, quiet: []string{"--silent", "-s"}, from: []string{"--package"}},
	"pnpm": {Registry: NPM, run: []string{"dlx"}, fetch: []string{"install", "i", "add", "update", "up", "create"},
		quiet: []string{"--silent", "-s"}, from: []string{"--package"}},
	"yarn": {Registry: NPM, run: []string{"dlx"}, fetch: []string{"", "add", "up", "upgrade", "create"},
		quiet: []string{"-q", "--quiet"}, from: []string{"-p", "--package"}},
	"yarnpkg":  {Registry: NPM, fetch: []string{"", "add", "up", "upgrade", "create"}},
	"bunx":     {Registry: NPM, run: []string{""}, quiet: []string{"--bun", "-y"}, from: []string{"-p", "--package"}},
	"bun":      {Registry: NPM, Resolves: true, run: []string{"x"}, fetch: []string{"install", "i", "add", "update", "create"}},
	"deno":     {Registry: NPM, Resolves: true, fetch: []string{"install", "add"}},
	"corepack": {Registry: NPM, Resolves: true},

	"uvx": {Registry: PyPI, run: []string{""}, quiet: []string{"-q", "--quiet"}, from: []string{"--from"}},
	"uv": {Registry: PyPI, Resolves: true, run: []string{"tool run"}, fetch: []string{"tool", "pip", "sync", "add"},
		quiet: []string{"-q", "--quiet"}, from: []string{"--from"}},
	"pip":    {Registry: PyPI, fetch: []string{"install", "download"}},
	"pipx":   {Registry: PyPI, run: []string{"run"}, fetch: []string{"install", "upgrade"}, quiet: []string{"-q", "--quiet"}, from: []string{"--spec"}},
	"poetry": {Registry: PyPI, fetch: []string{"install", "add", "update"}},

	"gem":    {fetch: []string{"install", "update"}},
	"bundle": {Resolves: true, fetch: []string{"install", "update"}},
	"go":     {Resolves: true, fetch: []string{"install", "get"}},
	"cargo":  {Resolves: true, fetch: []string{"install"}},
	"mvn":    {Resolves: true},
	"gradle": {Resolves: true},
	"jbang":  {Resolves: true},
}

// Of returns the package manager with the name of a program, without its version: "pip3" is pip; false for none.
func Of(program string) (Manager, bool) {
	m, ok := table[strings.TrimRight(path.Base(program), "0123456789.")]
	return m, ok
}

// Serves reports whether a program fetches from a registry that servers are published in.
func Serves(program string) bool {
	m, _ := Of(program)
	return m.Registry != Other
}

// valued are flags of package managers whose value is the next argument, besides those that name the package.
var valued = []string{
	"-C", "-c", "-w", "--cache", "--call", "--cwd", "--directory", "--dir", "--filter", "--index", "--index-url", "--prefix",
	"--project", "--python", "--registry", "--with", "--workspace",
}

// Fetches reports whether the package manager fetches packages when it is started with some arguments.
func (m Manager) Fetches(args []string) bool {
	if slices.Contains(m.run, "") {
		return true
	}
	verb := ""
	for i := 0; i < len(args); i++ {
		switch {
		case SpeaksOfItself(args[i]):
			return false
		case slices.Contains(valued, args[i]):
			i++
		case !strings.HasPrefix(args[i], "-"):
			verb, i = args[i], len(args)
		}
	}
	runs := func(words string) bool { first, _, _ := strings.Cut(words, " "); return first == verb }
	return slices.Contains(m.fetch, verb) || slices.ContainsFunc(m.run, runs)
}

// SpeaksOfItself reports whether a flag makes a program only print its version or help.
func SpeaksOfItself(flag string) bool {
	return slices.Contains([]string{"-v", "-V", "-VV", "--version", "-h", "--help"}, flag)
}

// Launched is a package that a package manager is to run.
type Launched struct {
	Registry Registry
	// Package is the reference that it fetches. Program is the one of the package
	// that runs; "" where the manager chooses. Arguments are the program's.
	Package, Program string
	Arguments        []string
	// Sure: no flag could change which program is run.
	Sure bool
}

// Launches reads a command line of a package manager; false if it runs no package.
func Launches(command []string) (l Launched, ok bool) {
	if len(command) == 0 {
		return l, false
	}
	m, _ := Of(command[0])
	for _, verbs := range m.run {
		words := strings.Fields(verbs)
		if rest := command[1:]; len(rest) >= len(words) && slices.Equal(rest[:len(words)], words) {
			return m.launches(rest[len(words):])
		}
	}
	return l, false
}

func (m Manager) launches(words []string) (l Launched, ok bool) {
	l = Launched{Registry: m.Registry, Sure: true}
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		flag, value, has := strings.Cut(words[0], "=")
		words = words[1:]
		names := slices.Contains(m.from, flag)
		if !has && len(words) > 0 && (names || slices.Contains(valued, flag)) {
			value, words = words[0], words[1:]
		}
		switch {
		case names && l.Package == "":
			l.Package = value
		case has || !slices.Contains(m.quiet, flag):
			l.Sure = false
		}
	}
	switch {
	case l.Package != "" && len(words) > 0:
		l.Program, l.Arguments = words[0], words[1:]
	case len(words) > 0:
		l.Package, l.Arguments = words[0], words[1:]
	default:
		l.Sure = false
	}
	return l, l.Package != ""
}
