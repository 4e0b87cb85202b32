package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
	"github.com/mcpaudit/mcpaudit/runner/pkgmanager"
	"github.com/mcpaudit/mcpaudit/runner/places"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
	"github.com/mcpaudit/mcpaudit/runner/words"
)

func findPersistence(in Input) []draft {
	own := in.ownPaths()
	return append(each(in, func(e profile.Effect, d *draft) bool {
		o, why, found := in.persists(own, e, d)
		d.severity, d.object = report.SeverityHigh, e.Path
		d.message = sentence("%s changed %s: %s, and %s", subject(e), clean(e.Path, 256), o.What, why)
		return found
	}, profile.KindWrite), slices.Concat(findInstalled(in), findPlanted(in))...)
}

// findInstalled finds programs that make others run or obey something, such as crontab, also ones that were missing.
func findInstalled(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		o, installs := places.InstalledBy(e.Argv.Words())
		if !installs {
			return false
		}
		d.severity, d.object = report.SeverityHigh, path.Base(e.Path)
		d.message = sentence("%s %s %s: %s, and nothing in its declaration speaks of that", subject(e), did(e, "ran", "tried to run"), program(e), o.What)
		return !in.installs(e) && !speaks(in.Scope.Covering(e.Capability), o.Topics) && !in.ran.orders[e.Capability].programs[path.Base(e.Path)]
	}, profile.KindExec)
}

// findPlanted finds commands, and sources of packages, that a call added to a file of the audit, which has none.
func findPlanted(in Input) []draft {
	own := map[string]bool{} // commands that the server writes into its own files, too
	for _, e := range in.Profile.Effects {
		if e.Planted != "" && !in.rewrites(e) {
			own[e.Planted] = true
		}
	}
	return each(in, func(e profile.Effect, d *draft) bool {
		file := e
		file.Kind = profile.KindWrite                                            // the kind that an argument explains
		d.severity, d.object = report.SeverityHigh, "what it put a command into" // also a source of packages; one finding, however many files
		d.message = sentence("%s put something into %s that takes effect by itself, and that neither an argument nor its declaration mentions: %s",
			subject(e), clean(e.Path, 256), clean(e.Planted, 200))
		return e.Planted != "" && !own[e.Planted] && asked(e.Phase) && in.wanted(file) && !in.installs(e) &&
			!speaks(in.Scope.Covering(e.Capability), plantedTopics) &&
			!slices.ContainsFunc(in.Arguments[e.Capability], func(a Argument) bool {
				return places.Planted(e.Path, []byte(a.Value)) != "" || holdsHost(a.Value, places.SourceOf(e.Planted))
			})
	}, profile.KindStore)
}

// holdsHost reports whether an argument has a host.
func holdsHost(argument, host string) bool { return host != "" && strings.Contains(argument, host) }

// plantedTopics are the words by which a declaration speaks of commands in files.
var plantedTopics = []string{"install", "installs", "installer", "hook", "hooks", "husky", "postinstall", "prepare", "scripts", "curl", "wget", "download", "downloads", "bootstrap", "registry", "registries", "mirror", "mirrors", "publish", "publishes", "overrides"}

// rewrites reports whether a file was read by the same capability before it was written.
func (in Input) rewrites(e profile.Effect) bool {
	return in.anyAt(e.Path, func(other profile.Effect) bool {
		return other.Kind == profile.KindRead && other.Capability == e.Capability && other.Error == "" && !other.Time.After(e.Time)
	})
}

// persists reports whether a change outlives the server, in a file that is run or obeyed later, and is not declared.
func (in Input) persists(own ownPaths, e profile.Effect, d *draft) (o places.Obeyed, why string, found bool) {
	o, ok := in.lasting(e)
	if !ok {
		return o, "", false
	}
	answer, clause := in.Scope.Answer(e.Capability, scope.Use{Kind: scope.UseWrite, Path: e.Path})
	covering := in.Scope.Covering(e.Capability)
	switch {
	case answer == scope.Exceeded:
		d.exceeded = true
		return o, beyond(clause), true
	case answer == scope.Allowed && clause.Source == report.ScopeSpec, speaks(covering, o.Topics), namesFile(covering, e.Path),
		o.Owner != "" && (keptBy(e.Program, o.Owner) || in.isNamed(o.Owner)),
		o.OnPath && in.installs(e), in.inOwnRepository(e), o.Project && (in.wanted(e) || in.madeItself(e) || own.temporary(e.Path) && !ofAudit.MatchString(e.Path) || !asked(e.Phase)):
		return o, "", false
	}
	return o, "nothing in its declaration speaks of that", true
}

// keptBy reports whether a program of the system is one of an owner's: its path has the owner's name, as in
// "/usr/lib/libreoffice/program/soffice.bin".
func keptBy(program, owner string) bool {
	return systemic(program) && slices.ContainsFunc(strings.Split(strings.ToLower(program), "/"), func(part string) bool {
		rest, found := strings.CutPrefix(part, owner)
		return found && !startsWithLetter(rest)
	})
}

func startsWithLetter(text string) bool { return text != "" && text[0] >= 'a' && text[0] <= 'z' }

// lasting returns the kind of a file that is run or obeyed later: by its name, or because it is the server's own code.
func (in Input) lasting(e profile.Effect) (places.Obeyed, bool) {
	name := e.Path
	if replaced(e) { // a link, or another directory, brings along all its files
		name += "/"
	}
	if o, ok := places.ObeyedAt(name); ok {
		return o, true
	}
	if o, ok := places.ObeyedBelow(e.Path); ok && replaced(e) {
		return o, true
	}
	if o, ok := in.cachedCode(e); ok {
		return o, true
	}
	return places.Obeyed{What: "the server's own code, which runs at its next start"}, in.ownCode(e)
}

// stores are the directories from which programs take code that they fetched or built before.
var stores = []string{
	"/.cache/pip/", "/.npm/_cacache/", "/.cache/uv/", "/.cache/go-build/", "/go/pkg/mod/", "/.cargo/registry/", "/.m2/repository/", "/.gradle/caches/",
	"/.cache/yarn/", "/.yarn/cache/", "/.yarn/berry/", "/.pnpm-store/", "/.bun/install/cache/", "/.cache/pypoetry/", "/node_modules/.bin/",
}

// cachedCode returns the kind of a file that a call put where another program takes code from. What a package manager
// or a build put there that the same call started is no such file.
func (in Input) cachedCode(e profile.Effect) (o places.Obeyed, ok bool) {
	switch {
	case strings.HasSuffix(e.Path, ".pyc"):
		o = places.Obeyed{What: "Python runs it in place of the module", Project: true, Topics: []string{"python", "compile", "compiles", "bytecode"}}
	case slices.ContainsFunc(stores, func(store string) bool { return strings.Contains(e.Path, store) }):
		o = places.Obeyed{What: "a package manager or a build takes code from there", Project: true,
			Topics: []string{"npm", "pip", "pypi", "package", "packages", "dependency", "dependencies", "cargo", "maven", "gradle", "build", "builds"}}
	default:
		return o, false
	}
	return o, asked(e.Phase) && !in.installs(e) && !in.builds(e.Capability)
}

// builds reports whether a capability started a package manager, or a program that fetches what it builds.
func (in Input) builds(of report.Capability) bool {
	return slices.ContainsFunc(in.Profile.Effects, func(e profile.Effect) bool {
		_, known := pkgmanager.Of(e.Path)
		return known && e.Kind == profile.KindExec && e.Error == "" && e.Capability == of
	})
}

// replaced reports whether an effect puts an existing file or directory in place of a path.
func replaced(e profile.Effect) bool {
	return slices.ContainsFunc([]string{"rename", "symlink", "link"}, func(call string) bool { return strings.HasPrefix(e.Operation, call) })
}

// inOwnRepository reports whether a file belongs to Git in a directory that the server made before, and that nothing was
// moved to: nobody else works there.
func (in Input) inOwnRepository(e profile.Effect) bool {
	dir, _, found := strings.Cut(e.Path, "/.git/")
	made, known := in.layout.made[dir]
	return found && known && !made.After(e.Time) && !in.layout.moved[dir]
}

// isNamed reports whether the server has a word of a program's name: its configuration is then the server's own.
func (in Input) isNamed(program string) bool {
	own := words.OfName(manifest.Text(in.Manifest.ServerName))
	return slices.ContainsFunc(words.OfName(program), func(word string) bool { return slices.Contains(own, word) })
}

// sources are the endings of files that run without being built.
var sources = []string{".py", ".js", ".mjs", ".cjs", ".ts", ".so", ".node", ".rb"}

// ownCode reports whether a call changed the server's program, or a module that is installed beside it. It
// leaves out servers that run a package manager.
func (in Input) ownCode(e profile.Effect) bool {
	if !asked(e.Phase) || !slices.Contains(sources, path.Ext(e.Path)) || in.installs(e) {
		return false
	}
	if places.Packaged(e.Path) {
		return !strings.Contains(e.Path, "/.cache/") && !strings.Contains(e.Path, "/__pycache__/")
	}
	return slices.ContainsFunc(in.Command, func(arg string) bool {
		return arg == e.Path || in.Dir != "" && path.Join(in.Dir, arg) == e.Path
	})
}

// installs reports whether an effect belongs to a package manager that starts the server, before its first call, or to
// a capability that has started one to fetch packages.
func (in Input) installs(e profile.Effect) bool {
	return len(in.Command) > 0 && pkgmanager.Serves(in.Command[0]) && !asked(e.Phase) || in.ran.installs[e.Capability]
}

// installers returns the capabilities that have started a package manager to fetch packages.
func (in Input) installers() map[report.Capability]bool {
	all := map[report.Capability]bool{}
	for _, e := range in.Profile.Effects {
		if e.Kind == profile.KindExec && e.Error == "" && !all[e.Capability] && in.fetchesPackages(e) {
			all[e.Capability] = true
		}
	}
	return all
}

// fetchesPackages reports whether a program is a package manager of the machine that fetches packages.
func (in Input) fetchesPackages(e profile.Effect) bool {
	m, _ := pkgmanager.Of(e.Path)
	argv := e.Argv.Words()
	return m.Registry != pkgmanager.Other && len(argv) > 0 && m.Fetches(argv[1:]) && in.isInstalled(e.Path)
}

// namesFile reports whether a declaration has each word of a file's name: "edits AGENTS.md".
func namesFile(d scope.Declaration, name string) bool {
	all := words.OfName(path.Base(name))
	return len(all) > 0 && !slices.ContainsFunc(all, func(word string) bool { return !d.Mentions(word) })
}
