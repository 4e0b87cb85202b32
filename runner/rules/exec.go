package rules

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// inquiries are programs that language runtimes start by themselves, such as Python's
// ctypes and platform modules, and which(1). They count only in the system's directories
// (bin): anything can be called uname.
var (
	inquiries = map[string]bool{"ldconfig": true, "ldconfig.real": true, "uname": true, "lsb_release": true, "which": true}
	bin       = map[string]bool{"/bin": true, "/sbin": true, "/usr/bin": true, "/usr/sbin": true}
	// looking matches a shell command that only looks for a program.
	looking = lazyregexp.New(`^(which|command -v|type) [A-Za-z0-9._+-]+( *[12&]?>(/dev/null|&[12]))*$`)
)

func inquiry(e profile.Effect) bool {
	base := path.Base(e.Path)
	if !bin[path.Dir(e.Path)] {
		return false
	}
	if slices.Contains([]string{"sh", "bash", "dash"}, base) {
		return len(e.Argv.Words()) == 3 && e.Argv.Words()[1] == "-c" && looking.MatchString(e.Argv.Words()[2])
	}
	return inquiries[base] || base == "which.debianutils"
}

// scripted reports whether the server is a shell script and a program one that scripts use like a library.
// What it reads, writes and starts counts by itself.
func (in Input) scripted(e profile.Effect) bool {
	if len(in.Command) == 0 || e.Within != "" || !lexicon().ScriptPrograms[path.Base(e.Path)] || !bin[path.Dir(e.Path)] {
		return false
	}
	of := path.Base(in.Command[0])
	return shells[of] && script(in.Command) != "" || slices.Contains([]string{".sh", ".bash"}, path.Ext(of))
}

// purposes maps a program to the words for what it is used for.
var purposes = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{
		"kubectl": places.KubeTopics, "helm": places.KubeTopics, "docker": containerTopics, "podman": containerTopics, "ssh": places.SSHTopics,
		"git": {"git", "github", "gitlab", "repository", "repo", "commit", "commits", "branch", "branches"},
	}
	for _, row := range lexicon().ProgramPurposes {
		for name := range row.Programs {
			all[name] = row.Topics
		}
	}
	return all
})

// serves reports whether the declaration names a program, perhaps as a verb ("pings a host"), or its purpose. Programs
// that the server wrote itself do not count.
func (in Input) serves(of report.Capability, program string) bool {
	declared, base := in.Scope.Covering(of), path.Base(program)
	word := strings.ToLower(base)
	named := !shells[base] && !runtimes.MatchString(base) && !lexicon().OrdinaryPrograms[base] && declared.Mentions(word, word+"s", word+"ing")
	return (named || speaks(declared, purposes()[base])) && !in.made(program)
}

// installed matches programs in the directories of the system.
var installed = lazyregexp.New(`^/(?:usr/(?:local/)?)?s?bin/[^/]+$`)

// servesByShell is serves for what a shell runs: the first program of its command line, or one that it started.
func (in Input) servesByShell(e profile.Effect, shell string) bool {
	if !shells[path.Base(shell)] {
		return false
	}
	words := e.Argv.Words()
	if e.Within != "" {
		run := script(words) // by its first line, perhaps
		return in.serves(e.Capability, e.Path) || installed.MatchString(run) && runtimes.MatchString(path.Base(e.Path)) && in.serves(e.Capability, run)
	}
	if len(words) != 3 || words[1] != "-c" {
		return false
	}
	command := strings.Fields(words[2])
	return len(command) > 0 && in.serves(e.Capability, command[0])
}

// start is a program that a capability has started.
type start struct {
	of      report.Capability
	program string
}

// dir is a directory that a capability used. use counts reads, changes of whole files (such as truncation), writes
// (stores), and changed files.
type (
	dir struct {
		of   report.Capability
		path string
	}
	use struct{ reads, changes, stores, files int }
)

func dirOf(e profile.Effect) dir { return dir{e.Capability, path.Dir(e.Path)} }

// ran has indexes of effects on files and programs, made once.
type ran struct {
	// at has the effects on each path, as indexes of Profile.Effects.
	at map[string][]int
	// within counts what capabilities did in directories.
	within map[dir]use
	// users has the capability that used a directory; the zero value if several did.
	users map[string]report.Capability
	// written are the files that the server wrote and the directories that it made.
	written map[string]bool
	// reached has the capability that went to a destination; the zero value if several did.
	reached map[string]report.Capability
	// first are the programs that were started before the first request, each once.
	first []profile.Fact
	// habits are the programs that were started before any list or call; true at start-up, false in the handshake.
	habits map[profile.Fact]bool
	// told are programs that an argument for commands said to start.
	told map[start]bool
	// orders are what arguments for commands said.
	orders map[report.Capability]orders
	// installs has the capabilities that have started a package manager to fetch packages.
	installs map[report.Capability]bool
}

// orders are the values of a capability's arguments for commands, and the names of the programs in them.
type orders struct{ values, programs map[string]bool }

// ordersIn reads the arguments once: there may be as many as programs were started.
func ordersIn(arguments map[report.Capability][]Argument) map[report.Capability]orders {
	all := map[report.Capability]orders{}
	for of, given := range arguments {
		said := orders{map[string]bool{}, map[string]bool{}}
		for _, a := range given {
			if a.Value != "" && inputs.Commands(a.Field) {
				first, _, _ := strings.Cut(a.Value, " ")
				said.values[a.Value], said.programs[path.Base(first)] = true, true
			}
		}
		all[of] = said
	}
	return all
}

func (in Input) programs() ran {
	r := ran{at: map[string][]int{}, within: map[dir]use{}, users: map[string]report.Capability{}, written: map[string]bool{}, reached: map[string]report.Capability{}, told: map[start]bool{}, habits: map[profile.Fact]bool{}, orders: ordersIn(in.Arguments)}
	changed := map[start]bool{}
	for i, e := range in.Profile.Effects {
		if e.Path != "" {
			r.at[e.Path] = append(r.at[e.Path], i)
			r.within[dirOf(e)] = r.within[dirOf(e)].with(e, changed)
			only(r.users, path.Dir(e.Path), e.Capability)
		}
		switch {
		case e.Kind == profile.KindWrite || e.Kind == profile.KindStore:
			r.written[e.Path] = true
		case e.Kind == profile.KindConnect && outward(e):
			only(r.reached, destination(e), e.Capability)
		case e.Kind != profile.KindExec:
		case e.Within == "" && r.ordered(e):
			r.told[start{e.Capability, e.Path}] = true
		case e.Error == "":
			r.early(e)
		}
	}
	return r
}

// only records who used something: the zero capability if several did.
func only(users map[string]report.Capability, at string, by report.Capability) {
	if before, known := users[at]; known && before != by {
		by = report.Capability{}
	}
	users[at] = by
}

// early records a program that was started before any list or call.
func (r *ran) early(e profile.Effect) {
	if e.Phase == report.PhaseStartup && !r.habits[e.Fact] {
		r.first = append(r.first, e.Fact)
	}
	if e.Phase == report.PhaseStartup || e.Phase == report.PhaseHandshake {
		r.habits[e.Fact] = r.habits[e.Fact] || e.Phase == report.PhaseStartup
	}
}

// with counts an effect. changed has the files changed before, and by whom.
func (u use) with(e profile.Effect, changed map[start]bool) use {
	file := start{e.Capability, e.Path}
	if changes := e.Kind == profile.KindStore || e.Kind == profile.KindWrite && alters(e) != ""; changes && !changed[file] {
		changed[file] = true
		u.files++
	}
	switch {
	case e.Kind == profile.KindRead:
		u.reads += e.Count
	case e.Kind == profile.KindStore:
		u.stores += e.Count
	case e.Kind == profile.KindWrite && alters(e) != "" || e.Kind == profile.KindDelete:
		u.changes += e.Count
	}
	return u
}

// writes counts truncating and then writing a file as one.
func (u use) writes() int { return max(u.changes, u.stores) }

// anyAt reports whether is holds for an effect on a path.
func (in Input) anyAt(path string, is func(profile.Effect) bool) bool {
	return slices.ContainsFunc(in.ran.at[path], func(i int) bool { return is(in.Profile.Effects[i]) })
}

// lines returns the shells that ran programs, and whether all of these serve: Node's exec
// starts any program by a shell.
func (in Input) lines() map[start]bool {
	all := map[start]bool{}
	for _, e := range in.Profile.Effects {
		if e.Kind == profile.KindExec && e.Error == "" && shells[path.Base(e.Within)] {
			at := start{e.Capability, e.Within}
			before, known := all[at]
			all[at] = (inquiry(e) || in.serves(e.Capability, e.Path)) && (before || !known)
		}
	}
	return all
}

// itself reports whether a program is the server's own code: Node's fork and cluster run
// its script again, or another beside it, and Python's multiprocessing starts workers so.
// What they do is seen.
func (in Input) itself(e profile.Effect) bool {
	if len(e.Argv.Words()) > 2 && strings.HasPrefix(path.Base(e.Path), "python") && multiprocessing(e.Argv.Words()[1:]) {
		return true
	}
	code := script(e.Argv.Words())
	return code != "" && slices.ContainsFunc(in.ran.first, func(first profile.Fact) bool {
		return first.Path == e.Path && in.beside(script(first.Argv.Words()), code)
	})
}

// beside reports whether a script is the one that the server was started with, also by a relative
// path, or lies beside it in the same package.
func (in Input) beside(own, code string) bool {
	switch {
	case own == code:
		return true
	case path.IsAbs(own):
		return path.Dir(own) == path.Dir(code) && strings.Contains(own, "/node_modules/")
	}
	return own != "" && strings.HasSuffix(code, path.Join("/", own)) && !in.made(code)
}

// bundled reports whether a program came with the server: it lies in the tree of packages
// that the server was started from, and was not written in this audit. It is the server's
// own code then, and what it does is seen. Shells and interpreters do not count, and what
// a bundled program starts counts by itself.
func (in Input) bundled(e profile.Effect) bool {
	tree, inside, ok := strings.Cut(e.Path, "/node_modules/")
	base := path.Base(e.Path)
	if !ok || shells[base] || runtimes.MatchString(base) || in.made(e.Path) || strings.Contains(inside, "/.cache/") {
		return false
	}
	named := func(words []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, tree+"/node_modules/") })
	}
	return named(in.Command) || slices.ContainsFunc(in.ran.first, func(first profile.Fact) bool { return named(append(first.Argv.Words(), first.Path)) })
}

// runtimes are programs that run what their arguments say.
var runtimes = lazyregexp.New(`^(?:node|nodejs|bun|deno|npx?|python|pypy|perl|ruby|php|lua|busybox|toybox|java|env|xargs|tclsh)[\d.]*$`)

// habitual reports whether the server started a program with the same arguments before any list or call as well. A
// program that reads commands, or that the server wrote, may do something else each time.
func (in Input) habitual(e profile.Effect) bool {
	words, base := e.Argv.Words(), path.Base(e.Path)
	fixed := !shells[base] && !runtimes.MatchString(base) || script(words) != "" || slices.Contains(words, "-c") || slices.Contains(words, "--version")
	_, early := in.ran.habits[e.Fact]
	return early && fixed && !in.made(e.Path)
}

// multiprocessing reports whether Python's module of that name starts its workers, or
// their trackers, with such arguments.
func multiprocessing(args []string) bool {
	at := slices.Index(args, "-c")
	return at >= 0 && at+1 < len(args) && workers.MatchString(args[at+1])
}

var workers = lazyregexp.New(`^from multiprocessing\.(spawn|resource_tracker|forkserver) import (spawn_main|main); ?(spawn_main|main)\([^;]*\)$`)

// script returns the script of an interpreter: the first argument that is no option; "" if
// the code is an argument.
func script(argv []string) string {
	for i, arg := range argv {
		switch {
		case i == 0:
		case arg == "-e" || arg == "-p" || arg == "-c" || arg == "-r" || arg == "--eval" || arg == "--print" ||
			strings.HasPrefix(arg, "--require") || strings.HasPrefix(arg, "--import") || strings.HasPrefix(arg, "--eval="):
			return ""
		case !strings.HasPrefix(arg, "-"):
			return arg
		}
	}
	return ""
}

func findSubprocesses(in Input) []draft {
	own, lines := in.workers(), in.lines()
	return each(in, func(e profile.Effect, d *draft) bool {
		if e.Error != "" || e.Phase == report.PhaseStartup || inquiry(e) || fromMemory(e.Path) || in.itself(e) || in.elevates(e) {
			return false
		}
		d.severity, d.object = report.SeverityMedium, e.Path
		if e.Within != "" && !own[e.Within] {
			d.object = e.Within
		}
		answer, clause := in.Scope.Answer(e.Capability, scope.Use{Kind: scope.UseExec, Path: d.object})
		switch {
		case answer == scope.Exceeded:
			d.severity = report.SeverityHigh
			d.message = sentence("%s started %s; by the declared scope it %s", subject(e), program(e), clause.Means)
			return true
		case answer == scope.Allowed, len(in.Scope.Covering(e.Capability).Subprocess) > 0,
			in.habitual(e), in.bundled(e), in.scripted(e), in.serves(e.Capability, d.object), in.servesByShell(e, d.object),
			lines[start{e.Capability, d.object}], in.ran.ordered(e), e.Within != "" && in.ran.told[start{e.Capability, e.Within}]:
			return false
		}
		d.message = sentence("%s started %s; nothing in its declaration speaks of running programs", subject(e), program(e))
		return true
	}, profile.KindExec)
}

// workers returns the programs that were started only as the server's own code: what they
// start, the server starts.
func (in Input) workers() map[string]bool {
	own := map[string]bool{}
	for _, e := range in.Profile.Effects {
		if e.Kind == profile.KindExec && e.Error == "" && e.Within == "" && asked(e.Phase) {
			name := e.Path[:min(len(e.Path), trace.MaxWithin)]
			before, known := own[name]
			own[name] = (in.itself(e) || in.bundled(e)) && (before || !known)
		}
	}
	return own
}

// ordered reports whether an argument for commands said to start a program: alone, with arguments,
// or by a shell.
func (r ran) ordered(e profile.Effect) bool {
	said := r.orders[e.Capability]
	return said.programs[path.Base(e.Path)] || slices.ContainsFunc(e.Argv.Words(), func(word string) bool { return said.values[word] })
}

// program returns a program with its arguments: `/bin/sh (sh -c "id")`.
func program(e profile.Effect) string {
	if len(e.Argv.Words()) == 0 {
		return clean(e.Path, 256)
	}
	return clean(e.Path, 256) + " (" + clean(strings.Join(e.Argv.Words(), " "), 120) + ")"
}

// fromMemory reports whether a program has no file: memfd_create(2).
func fromMemory(name string) bool { return strings.HasPrefix(name, "/memfd:") }
