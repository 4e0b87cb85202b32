package rules

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// promised returns the hint of a tool if an effect is certainly its own.
func (in Input) promised(e profile.Effect, hint string) (scope.Clause, bool) {
	if e.Capability.Kind != report.CapabilityTool || e.Phase != report.PhaseCall || e.AlternativeCause != (report.Capability{}) {
		return scope.Clause{}, false
	}
	return in.Scope.Hint(e.Capability, hint)
}

func findChanges(in Input) []draft {
	own := in.ownPaths()
	return each(in, func(e profile.Effect, d *draft) bool {
		clause, ok := in.promised(e, "readOnlyHint")
		did := alters(e)
		_, _, lasts := in.persists(own, e, &draft{})
		if !ok || did == "" || passing(e.Path) || lasts || in.remembers(own, e) || in.keepsBooks(own, e) {
			return false
		}
		if strings.HasPrefix(e.Operation, "mkdir") && strings.Contains(e.Path, "/.") && !handed(e.Path) {
			return false // the way to a cache; what is stored there is judged by itself
		}
		d.severity, d.object = report.SeverityMedium, changedIn(e.Path)
		if handed(e.Path) || e.Kind == profile.KindDelete && !in.made(e.Path) {
			d.severity = report.SeverityHigh
		}
		d.message = sentence("%s %s %s; %s", subject(e), did, clean(e.Path, 256), whose(clause, e.Capability))
		return true
	}, profile.KindStore, profile.KindWrite, profile.KindDelete)
}

// remembers reports whether a file is a cache of answers: in a hidden directory of the server's own, where the same tool
// reads far more often than it writes, or that only this tool uses, with a file for each question that is not written at
// each call.
func (in Input) remembers(own ownPaths, e profile.Effect) bool {
	if !own.hides(e.Path) {
		return false
	}
	use := in.ran.within[dirOf(e)]
	apart := in.ran.users[path.Dir(e.Path)] == e.Capability && use.writes() <= 2*use.files
	return use.reads > 0 && (use.reads >= 4*use.writes() || apart)
}

// leastBooks is the least number of capabilities that write a history of calls.
const leastBooks = 3

// keepsBooks reports whether a file in a hidden directory of the server's own has a history or statistics of all calls:
// no single tool is charged with it.
func (in Input) keepsBooks(own ownPaths, e profile.Effect) bool {
	if e.Kind == profile.KindDelete || !own.hides(e.Path) {
		return false
	}
	changing := map[report.Capability]bool{}
	return in.anyAt(e.Path, func(other profile.Effect) bool {
		if alters(other) != "" && other.Kind != profile.KindDelete {
			changing[other.Capability] = true
		}
		return len(changing) >= leastBooks
	})
}

// hides reports whether a path lies in a hidden directory of the server's own, in the home.
func (g ownPaths) hides(name string) bool {
	inside, home := g.inHome(name)
	return home && inside[0] == '.' && g.owns(name)
}

// alters says how an effect changed a file; "" if it only opened it or set its mode or
// times.
func alters(e profile.Effect) string {
	switch {
	case e.Kind == profile.KindStore:
		return "wrote to"
	case e.Kind == profile.KindDelete:
		return "deleted"
	case e.Opening == "O_TRUNC", strings.HasSuffix(e.Operation, "truncate"):
		return "created or emptied"
	}
	for prefix, did := range map[string]string{"mk": "created", "rename": "renamed, or replaced,", "link": "linked", "symlink": "linked"} {
		if strings.HasPrefix(e.Operation, prefix) {
			return did
		}
	}
	return ""
}

func findDestruction(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		clause, ok := in.promised(e, "destructiveHint")
		if _, readOnly := in.Scope.Hint(e.Capability, "readOnlyHint"); !ok || readOnly || passing(e.Path) || in.switched(e) {
			return false
		}
		did := "deleted"
		d.severity, d.object = report.SeverityMedium, changedIn(e.Path)
		switch {
		case e.Kind == profile.KindDelete && planted(e.Path):
			d.severity = report.SeverityHigh
		case e.Kind == profile.KindDelete:
			if in.made(e.Path) {
				return false
			}
		case !planted(e.Path) || !in.overwrote(e):
			return false
		default:
			did = "overwrote"
		}
		d.message = sentence("%s %s %s; %s", subject(e), did, clean(e.Path, 256), whose(clause, e.Capability))
		return true
	}, profile.KindWrite, profile.KindDelete)
}

// switches are the commands of git that take files out of the work tree which a branch or a stash keeps.
var switches = []string{"checkout", "switch", "merge", "rebase", "pull", "stash", "cherry-pick", "revert"}

// switched reports whether a file lies in the repository of the audit, and the capability had git switch that to another
// commit without force: git then removes only what it keeps.
func (in Input) switched(e profile.Effect) bool {
	return strings.Contains(e.Path, "/"+inputs.RepositoryDir+"/") && slices.ContainsFunc(in.Profile.Effects, func(other profile.Effect) bool {
		has := func(word string) bool { return slices.Contains(other.Argv.Words(), word) }
		return other.Kind == profile.KindExec && other.Capability == e.Capability && path.Base(other.Path) == "git" &&
			slices.ContainsFunc(switches, has) && !has("-f") && !has("--force")
	})
}

// overwrote reports whether a write replaced the whole content of a file that the
// capability had never read.
func (in Input) overwrote(e profile.Effect) bool {
	replaced := strings.HasPrefix(e.Operation, "rename")
	return (replaced || e.Opening == "O_TRUNC") &&
		!in.anyAt(e.Path, func(other profile.Effect) bool {
			return other.Kind == profile.KindRead && other.Capability == e.Capability || // its old name, or its content
				other.Kind == profile.KindDelete
		})
}

// made reports whether the server wrote the file or made the directory in this audit: it
// may remove it.
func (in Input) made(name string) bool { return in.ran.written[name] }

func findRepetition(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		clause, ok := in.promised(e, "idempotentHint")
		if _, readOnly := in.Scope.Hint(e.Capability, "readOnlyHint"); !ok || readOnly || !e.Repeat || passing(e.Path) {
			return false
		}
		did := alters(e)
		switch {
		case e.Opening == "O_APPEND" && handed(e.Path) && in.stored(e):
			did = "appended to"
		case did == "" || strings.Contains(e.Path, "/.") && !handed(e.Path) || in.usual(e):
			return false
		}
		d.severity, d.object = report.SeverityMedium, changedIn(e.Path)
		d.message = sentence("%s, called again with the same arguments, %s %s; %s", capital(name(e.Capability)), did, clean(e.Path, 256), whose(clause, e.Capability))
		return true
	}, profile.KindStore, profile.KindWrite, profile.KindDelete)
}

// stored reports whether bytes were written to the same file in the same call.
func (in Input) stored(e profile.Effect) bool {
	return in.anyAt(e.Path, func(other profile.Effect) bool {
		return other.Kind == profile.KindStore && other.Capability == e.Capability && other.Repeat == e.Repeat
	})
}

// usual reports whether another call of the capability changed the file as well, or the
// file was temporary: the second call deleted what it had made, or made what it then
// deleted or renamed.
func (in Input) usual(e profile.Effect) bool {
	return in.anyAt(e.Path, func(other profile.Effect) bool {
		if other.Capability != e.Capability {
			return false
		}
		gone := other.Kind == profile.KindDelete || other.Kind == profile.KindRead && strings.HasPrefix(other.Operation, "rename")
		ownDoing := other.Repeat && (other.Kind == profile.KindWrite || other.Kind == profile.KindStore) && !other.Time.After(e.Time)
		return !other.Repeat && alters(other) != "" || gone && e.Kind != profile.KindDelete || ownDoing && e.Kind == profile.KindDelete
	})
}

func findReach(in Input) []draft {
	drafts := each(in, func(e profile.Effect, d *draft) bool {
		clause, ok := in.hintOnly(e.Capability)
		if !ok || !outward(e) || in.ofMetadata(e) || in.configured(e) {
			return false
		}
		if answer, _ := in.answer(e); answer != scope.Unsaid {
			return false // an operator's list is the last word
		}
		d.severity, d.object = report.SeverityHigh, destination(e)
		if stance, _ := in.Scope.Network(e.Capability); stance != scope.Denied || askedFor(e) || resolving(e) || in.shared(e) {
			d.severity = report.SeverityMedium
		}
		did := action(e) + in.foreignResolver(e)
		switch {
		case in.itsService(e):
			d.severity, did = report.SeverityInfo, did+", which the server names as its service"
		case in.named[e.Capability][egressUse(e).Host]:
			d.severity, did = report.SeverityInfo, did+", which its declaration names"
		}
		d.message = sentence("%s %s; %s", subject(e), did, whose(clause, e.Capability))
		return true
	}, profile.KindConnect)
	return unexplained(drafts)
}

// hintOnly returns the closed-world hint of a tool if no text of its declaration promises
// the same.
func (in Input) hintOnly(of report.Capability) (scope.Clause, bool) {
	hint, ok := in.Scope.Hint(of, "openWorldHint")
	if !ok {
		return hint, false
	}
	_, clause := in.Scope.Network(of)
	return hint, clause.Field == hint.Field && clause.Capability == hint.Capability
}

// egressUse returns the use that a connect is for the scope.
func egressUse(e profile.Effect) scope.Use {
	use := scope.Use{Kind: scope.UseEgress, Address: e.Address, Port: e.Port}
	if address, err := netip.ParseAddr(e.Address); lookup(e) || err == nil && sinkhole.Gave(e.Host, address) {
		use.Host, use.FQDN, use.Named = e.Host, e.FQDN, e.Host // elsewhere a name has no address: the server has made one up
	}
	return use
}

// shared reports whether other capabilities go to the same destination.
func (in Input) shared(e profile.Effect) bool {
	of, known := in.ran.reached[destination(e)]
	return known && of != e.Capability
}

// itsService reports whether a server that declares its use of the network names the owner
// of a host, and goes there for other capabilities as well: that service may be the
// closed domain of the hint. Without the hint there would be no finding.
func (in Input) itsService(e profile.Effect) bool {
	server := report.Capability{Kind: report.CapabilityServer}
	stance, _ := in.Scope.Network(server)
	if stance != scope.Declared || e.Host == "" || egressUse(e).Host == "" || !in.shared(e) {
		return false
	}
	host := destinationHost(e)
	company, ok := strings.CutSuffix(strings.TrimSuffix(ownerOf(host), "s"), "api") // googleapis.com is Google's
	return in.speaksOf(host) || ok && len(company) > 3 && in.Scope.Covering(server).Mentions(company)
}

// ofAudit matches files of the audit: planted ones, and those that its arguments name.
var ofAudit = lazyregexp.New(`/(?:` + inputs.FilesDir + `|` + inputs.RepositoryDir + `|` + inputs.ProjectDir + `|` + inputs.Word + `[-_]c\d+)(?:[/.-]|$)`)

// handed reports whether the audit gave a path to the server.
func handed(name string) bool { return ofAudit.MatchString(name) }

// changedIn returns the directory of a change. All directories with files of the audit count as one, for arguments choose
// among them.
func changedIn(name string) string {
	dir := path.Dir(name)
	for _, other := range []string{inputs.RepositoryDir, inputs.ProjectDir, inputs.PapersDir} {
		if before, _, found := strings.Cut(dir+"/", "/"+other+"/"); found {
			return before + "/" + inputs.FilesDir
		}
	}
	return dir
}

// planted reports whether the audit put a file there before the server started.
func planted(name string) bool {
	return slices.ContainsFunc(inputs.Files(), func(f inputs.File) bool { return strings.HasSuffix(name, "/"+f.Path) })
}

// fleeting are the directories and fleetingEnds the endings of files that come and go with
// any program.
var (
	fleeting = []string{"/tmp/", "/var/tmp/", "/run/", "/var/run/", "/dev/", "/proc/", "/sys/", "/var/log/", "/var/cache/", "/memfd:",
		"/.cache/", "/.npm/", "/_logs/", "/logs/", "/cache/", "/caches/", "/__pycache__/", "/.local/state/", "/.git/index", "/.git/FETCH_HEAD"}
	// anywhere are those that count at any depth.
	anywhere     = map[string]bool{"/logs/": true, "/cache/": true, "/caches/": true}
	fleetingEnds = []string{".log", ".lock", ".lockfile", ".lck", ".pid", ".sock", ".tmp", "-journal", "-wal", "-shm", ".swp", "/.cache", "/cache", "/logs", "/__pycache__"}
)

// logDir matches a directory of logs by the last word of its name: .app-logs, not logs.d
// or logbook.
var logDir = lazyregexp.New(`/[.\w-]*[._-]logs/`)

// passing reports whether a path names a temporary file, a cache, a log, a lock, a journal
// or no file at all. Files of the audit are not temporary, although they lie in such a
// directory.
func passing(name string) bool {
	if logDir.MatchString(name) && !handed(name) {
		return true
	}
	for _, dir := range fleeting {
		at := strings.Index(name, dir)
		if at >= 0 && (at == 0 || strings.HasPrefix(dir, "/.") || strings.HasPrefix(dir, "/_") || anywhere[dir]) &&
			!(handed(name) && strings.HasSuffix(dir, "tmp/")) {
			return true
		}
	}
	return !path.IsAbs(name) || slices.ContainsFunc(fleetingEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}
