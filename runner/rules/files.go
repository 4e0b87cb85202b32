package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

var fileRules = []family{
	{sensitiveFile, findSensitiveFiles},
	{writtenOutside, findWrites},
	{traversal, findTraversals},
	{enumeration, findEnumeration},
	{readOutside, findReads},
}

var sensitiveFile = Rule{
	ID: "MCPA-FILE-001", Severity: report.SeverityHigh, Title: "Sensitive file read",
	Description: "A file that usually holds secrets (keys, credentials, tokens, password databases) was opened for reading, " +
		"with success, and nothing in the declaration speaks of it. A failed open is no finding, nor is a file that the " +
		"server's subject explains (a kubeconfig for a server about Kubernetes), nor the environment file that a server " +
		"loads when it starts. Files that ordinary tools open unasked (.netrc, .npmrc) count only where no such tool can " +
		"have been the reason, and then as Medium. Info, where a program in Perl or Ruby opened the password database as " +
		"these do when they look up a user: they ask for the shadow entry, too.",
	Fix: "Read only what the capability needs, and say in its description which files those are.",
	Expected: "A server whose subject is not among the words that the rule knows for a file; a scanner that never says that it looks into " +
		"every file. A word of its description, or readPaths of a declared scope, silences it.",
	Mitigation: "Keep {object} away from the server: run it in a container, or as a user, that has no such file, with a home of its own. " +
		"Give the one credential that it needs by its configuration.",
	References: []string{"OWASP MCP01:2025", "SAFE-T1502"},
}

var canaryRead = Rule{
	ID: "MCPA-SECRET-001", Severity: report.SeverityHigh, Title: "Decoy secret read",
	Description: "One of the decoy secrets that the audit had planted in the server's home directory was opened for " +
		"reading, or given another name by which it can be, with success, and nothing in the declaration speaks of such a file. Nothing but a search for secrets " +
		"leads there.",
	Fix: "Do not read credentials of the user; take those that the server needs from its own configuration.",
	Expected: "A search through the whole home that an argument did not ask for, in a server that does not say so. What a declaration names " +
		"(a kubeconfig, for a server about Kubernetes) is excused.",
	Mitigation: "Run the server with a home of its own (an emptyDir, HOME set to it) and mount no credentials into it, so that {object} is not there; " +
		"automountServiceAccountToken: false.",
	References: []string{"OWASP MCP01:2025", "SAFE-T1502"},
}

func findSensitiveFiles(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		at, ok := locate(e.Path)
		planted, routine := in.canary(e.Path)
		if !ok || planted && !routine {
			return false
		}
		why, found := in.undeclared(at, e, d)
		if !found {
			return false
		}
		d.severity = report.SeverityHigh
		switch {
		case at.routine || routine:
			if unasked(in, e) {
				return false
			}
			d.severity = report.SeverityMedium
		case strings.HasPrefix(path.Base(e.Path), ".env") && in.settings(e):
			return false
		}
		d.object = e.Path
		if strings.HasPrefix(e.Path, "/proc/") {
			d.object = "/proc/PID/" + path.Base(e.Path) // whoever reads one reads all
		}
		d.message = sentence("%s read %s (%s), %s", subject(e), clean(e.Path, 256), at.what, why)
		if in.looksUpUser(e) {
			d.severity = report.SeverityInfo
			d.message = sentence("%s read %s (%s), as Perl and Ruby do when they look up a user", subject(e), clean(e.Path, 256), at.what)
		}
		return true
	}, profile.KindRead)
}

// undeclared says how the declaration does not cover a read of a secret place; false
// where it does. The list of an operator is the last word; what only the server says
// of itself has to have one of the topics.
func (in Input) undeclared(at place, e profile.Effect, d *draft) (why string, found bool) {
	answer, clause := in.Scope.Answer(e.Capability, scope.Use{Kind: scope.UseRead, Path: e.Path})
	switch {
	case answer == scope.Exceeded:
		d.exceeded = true
		return beyond(clause), true
	case answer == scope.Allowed && clause.Source == report.ScopeSpec, at.spokenOf(in.Scope, e):
		return "", false
	}
	return "which nothing in its declaration speaks of", true
}

// looksUpUser reports whether the shadow file was opened by getpwuid of Perl or Ruby:
// they ask libc for the shadow entry, too (getspnam(3)), right after the password
// database was opened, which every process may read.
func (in Input) looksUpUser(e profile.Effect) bool {
	if e.Path != "/etc/shadow" {
		return false
	}
	interpreted, asked := false, false
	for _, other := range in.Profile.Effects {
		if other.PID != e.PID || other.Time.After(e.Time) {
			continue
		}
		base := strings.TrimRight(path.Base(other.Path), "0123456789.")
		interpreted = interpreted || other.Kind == profile.KindExec && other.Error == "" && (base == "perl" || base == "ruby")
		asked = asked || other.Kind == profile.KindRead && other.Path == "/etc/passwd"
	}
	return interpreted && asked
}

// settings reports whether an environment file is the server's own: it reads it
// before any call, or has done so.
func (in Input) settings(e profile.Effect) bool {
	return !asked(e.Phase) || slices.ContainsFunc(in.Profile.Effects, func(other profile.Effect) bool {
		return other.Kind == profile.KindRead && other.Path == e.Path && !asked(other.Phase)
	})
}

// asked reports whether the first call had come: what the server loads for itself
// it has loaded by then.
func asked(phase report.Phase) bool {
	return phase == report.PhaseCall || phase == report.PhaseIdle || phase == report.PhaseShutdown
}

func findCanaryReads(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		file := e.Path
		if moved, ok := in.movedAlong(e); ok {
			file = moved
		}
		planted, routine := in.canary(file)
		if !planted || routine {
			return false
		}
		what := "a planted file"
		at, ok := locate(file)
		if ok {
			what = at.what
		}
		verb := "read"
		if strings.HasPrefix(e.Operation, "rename") || strings.HasPrefix(e.Operation, "link") {
			verb = "gave another name to"
		}
		e.Path = file
		why, found := in.undeclared(at, e, d)
		d.severity, d.object = report.SeverityHigh, file
		d.message = sentence("%s %s the decoy secret %s (%s), %s", subject(e), verb, clean(file, 256), what, why)
		return found
	}, profile.KindRead)
}

// movedAlong is a canary in a directory that was given another name: below that
// name it can be read without being known.
func (in Input) movedAlong(e profile.Effect) (string, bool) {
	if !strings.HasPrefix(e.Operation, "rename") {
		return "", false
	}
	for _, c := range in.Canaries {
		if !c.Routine && strings.HasPrefix(c.Path, strings.TrimSuffix(e.Path, "/")+"/") {
			return c.Path, true
		}
	}
	return "", false
}

func (in Input) canary(name string) (planted, routine bool) {
	i := slices.IndexFunc(in.Canaries, func(c Canary) bool { return c.Path == name })
	if i < 0 {
		return false, false
	}
	return true, in.Canaries[i].Routine
}
