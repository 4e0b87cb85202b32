// Package noise recognises what a program's runtime does by itself: loading
// libraries, finding packages, reading the locale. It is no effect of the
// server's own, and is left out of the profile, counted by the reason.
//
// A path is noise by a rule with a reason, never by a word in it: by where it
// lies in the image (the trees of packages, the prefix of an interpreter that
// was executed), and by what it is there. A sensitive path is never noise,
// wherever it lies; nor is the network, the start of a program, or a change of a
// file other than a device or a cache of its runtime's own.
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
)

// Reason is why an access is noise, a CamelCase word for the report.
type Reason string

// The reasons.
const (
	// Loader: the dynamic linker's cache, and shared objects in directories that
	// packages install them to (ld.so(8)).
	Loader Reason = "Loader"
	// Interpreter: the files of a language runtime that was executed, and of the
	// version manager that chose it.
	Interpreter Reason = "Interpreter"
	// Packages: what packages of the operating system or of a language brought
	// into the image, and looking for them along the path.
	Packages Reason = "Packages"
	// Locale: languages, character sets, terminals, time zones.
	Locale Reason = "Locale"
	// Certificates: public certificates and the settings of TLS libraries.
	Certificates Reason = "Certificates"
	// Resolver: how names of hosts, services and users are looked up.
	Resolver Reason = "Resolver"
	// SelfInspection: what the kernel says about the process itself, its cgroup,
	// and the machine that it is on.
	SelfInspection Reason = "SelfInspection"
	// Devices: those that hold nothing, such as /dev/null, and memory that has a
	// descriptor.
	Devices Reason = "Devices"
	// PackageManager: the caches of npm, pip, uv and others, where one of them
	// was launched.
	PackageManager Reason = "PackageManager"
)

// Access is one use of a file, whether it worked or not.
type Access struct {
	// Path is absolute and clean; anything else is no noise.
	Path string
	// Change: not only to read it. Failed: nothing came of it.
	Change, Failed bool
}

// maxPrefixes bounds what a server that starts many runtimes is remembered for.
const maxPrefixes = 32

// Filter tells noise from effects. It learns from the programs that are
// executed, so it has to see the events in their order. It is not safe for
// concurrent use.
type Filter struct {
	home      string
	sensitive func(path string) bool
	// prefixes are where runtimes that were executed are installed: /usr for
	// /usr/bin/node. managers are the directories of version managers.
	prefixes, managers []string
	// launched: the first program was a package manager. started: there was one.
	launched, started bool
}

// New makes a Filter for a server whose home directory is home ("" if there is
// none). sensitive tells which paths may never be noise; nil for none but those
// that secrets usually have.
func New(home string, sensitive func(path string) bool) *Filter {
	if sensitive == nil {
		sensitive = func(string) bool { return false }
	}
	return &Filter{home: strings.TrimSuffix(home, "/"), sensitive: sensitive}
}

// rule is one reason with what it recognises. The first that does gives it.
type rule struct {
	reason Reason
	is     func(f *Filter, a Access) bool
}

var rules = []rule{
	{Devices, isDevice},
	{SelfInspection, isSelfInspection},
	{Interpreter, isByteCode},
	// A change is noise for none of the reasons below but the last.
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

// Executed learns from a program that was started, with success.
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

// launchers start what was asked for, and are not it.
var launchers = set("env", "sh", "bash", "dash", "ash", "busybox", "tini", "dumb-init", "catatonit")

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
var runtimes = set("node", "nodejs", "python", "pypy", "ruby", "perl", "php", "java", "deno", "bun", "go", "dotnet")

func runtime(base string) bool { return runtimes[strings.TrimRight(base, "0123456789.")] }

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}
