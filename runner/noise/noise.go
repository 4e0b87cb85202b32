// Package noise recognizes file accesses of a program's runtime: loading
// libraries, finding packages, reading the locale. They are not the server's own
// effects; the profile leaves them out and counts them by reason.
//
// A rule with a reason decides by the location in the image (the trees of packages, the
// prefix of an interpreter that was executed) and the kind of file, never by a word in
// the path. A sensitive path is never noise, nor is the network, the start of a program, or a change of a
// file other than a device or a cache of the runtime.
//
// There is no control run of the bare runtime: the rules cover the whole of
// `node -e 0`, `python3 -c 0`, `sh -c :` and of a Go program, which a test of
// this package holds them to with the runtimes of the machine that it runs on.
package noise

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

// Reason says why an access is noise, as a CamelCase word for the report.
type Reason string

// The reasons.
const (
	// Loader: the dynamic linker's cache, and shared objects in directories that
	// packages install them to (ld.so(8)).
	Loader Reason = "Loader"
	// Interpreter: the files of a language runtime that was executed, and of the
	// version manager that chose it.
	Interpreter Reason = "Interpreter"
	// Packages: files of packages of the operating system or of a language, and the search for them.
	Packages Reason = "Packages"
	// Locale: languages, character sets, terminals, time zones.
	Locale Reason = "Locale"
	// Certificates: public certificates and the settings of TLS libraries.
	Certificates Reason = "Certificates"
	// Resolver: the look-up of hosts, services and users.
	Resolver Reason = "Resolver"
	// SelfInspection: the kernel's information about the process itself, its cgroup, and the machine.
	SelfInspection Reason = "SelfInspection"
	// Devices: those without content, such as /dev/null, and memory with a descriptor.
	Devices Reason = "Devices"
	// PackageManager: the caches of npm, pip, uv and others, where one of them
	// was launched.
	PackageManager Reason = "PackageManager"
)

// Access is one use of a file, whether it worked or not.
type Access struct {
	// Path is absolute and clean; any other is not noise.
	Path string
	// Change: for more than reading. Failed: without success. Opened: a change of a file that was opened by this name.
	Change, Failed, Opened bool
}

// maxPrefixes bounds the prefixes, and the version managers, that are remembered.
const maxPrefixes = 32

// Filter separates noise from effects. It learns from the programs that are
// executed, so it needs the events in order. It is not safe for concurrent use.
type Filter struct {
	home      string
	sensitive func(path string) bool
	// prefixes has those of the runtimes that were executed: /usr for
	// /usr/bin/node. managers are the directories of version managers.
	prefixes, managers []string
	// launched: the first program was a package manager. started: there was one.
	launched, started bool
}

// New makes a Filter for a server with a home directory ("" for none). sensitive reports whether a path may
// never be noise, beside the usual paths of secrets; nil for no others.
func New(home string, sensitive func(path string) bool) *Filter {
	if sensitive == nil {
		sensitive = func(string) bool { return false }
	}
	return &Filter{home: strings.TrimSuffix(home, "/"), sensitive: sensitive}
}

// rule recognizes accesses for one reason. The first match decides.
type rule struct {
	reason Reason
	is     func(f *Filter, a Access) bool
}

var rules = []rule{
	{Devices, isDevice},
	{SelfInspection, isSelfInspection},
	{Interpreter, isByteCode},
	// Of the reasons below, only the last covers changes.
	{Loader, reads(isLoader)},
	{Locale, reads(isLocale)},
	{Certificates, reads(isCertificate)},
	{Resolver, reads(isResolver)},
	{Packages, reads(isPackage)},
	{Interpreter, reads(isInterpreter)},
	{Packages, reads(isSystem)},
	{PackageManager, isCache},
}

func reads(is func(*Filter, Access) bool) func(*Filter, Access) bool {
	return func(f *Filter, a Access) bool { return !a.Change && is(f, a) }
}

// Reason returns why an access is noise; false when it is an effect.
func (f *Filter) Reason(a Access) (Reason, bool) {
	if a.Path == "" || places.Kept(a.Path) || f.sensitive(a.Path) {
		return "", false
	}
	for _, r := range rules {
		if r.is(f, a) {
			return r.reason, true
		}
	}
	return "", false
}

// Executed learns from a program that was started successfully.
func (f *Filter) Executed(program string, argv []string) {
	dir, base := path.Split(program)
	dir = strings.TrimSuffix(dir, "/")
	manager := pkgmanager.Serves(base) || managed(base, argv)
	if !f.started && !launchers[base] {
		f.started, f.launched = true, manager
	}
	for name := range versionManagers {
		if at := strings.Index(program, name); at >= 0 {
			f.managers = learn(f.managers, program[:at+len(name)-1])
		}
	}
	if runtime(base) && path.Base(dir) == "bin" {
		f.prefixes = learn(f.prefixes, strings.TrimSuffix(path.Dir(dir), "/"))
	}
}

func learn(known []string, dir string) []string {
	if slices.Contains(known, dir) || len(known) == maxPrefixes {
		return known
	}
	return append(known, strings.Clone(dir))
}

// launchers only start the server's program.
var launchers = words.SetOf("env", "sh", "bash", "dash", "ash", "busybox", "tini", "dumb-init", "catatonit")

// managed reports whether an interpreter was started to run a package manager:
// node .../npx-cli.js, python -m pip.
func managed(base string, argv []string) bool {
	if len(argv) < 2 || !runtime(base) {
		return false
	}
	script := strings.TrimSuffix(strings.TrimSuffix(path.Base(argv[1]), ".js"), ".cjs")
	if pkgmanager.Serves(strings.TrimSuffix(script, "-cli")) {
		return true
	}
	return len(argv) > 2 && argv[1] == "-m" && pkgmanager.Serves(argv[2])
}

// runtimes are the interpreters whose files are known; digits and dots may
// follow, as in python3.11.
var runtimes = words.SetOf("node", "nodejs", "python", "pypy", "ruby", "perl", "php", "java", "deno", "bun", "go", "dotnet")

func runtime(base string) bool { return runtimes[strings.TrimRight(base, "0123456789.")] }
