package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

var fileRules = []family{
	{sensitiveFile, findSensitiveFiles},
}

var sensitiveFile = Rule{
	ID: "MCPA-FILE-001", Severity: report.SeverityHigh, Title: "Sensitive file read",
	Description: "A file that usually holds secrets (keys, credentials, tokens, password databases) was opened for reading, " +
		"with success, and nothing in the declaration speaks of it. A failed open is no finding, nor is a file that the " +
		"server's subject explains (a kubeconfig for a server about Kubernetes), nor the environment file that a server " +
		"loads when it starts. Files that ordinary tools open unasked (.netrc, .npmrc) count only where no such tool can " +
		"have been the reason, and then as Medium.",
	Fix: "Read only what the capability needs, and say in its description which files those are.",
}

var canaryRead = Rule{
	ID: "MCPA-SECRET-001", Severity: report.SeverityHigh, Title: "Decoy secret read",
	Description: "One of the decoy secrets that the audit had planted in the server's home directory was opened for " +
		"reading, or given another name by which it can be, with success, and nothing in the declaration speaks of such a file. Nothing but a search for secrets " +
		"leads there.",
	Fix: "Do not read credentials of the user; take those that the server needs from its own configuration.",
}

func findSensitiveFiles(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		at, ok := locate(e.Path)
		planted, routine := in.canary(e.Path)
		if !ok || planted && !routine || at.spokenOf(in.Scope, e) {
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
		d.message = sentence("%s read %s (%s), which nothing in its declaration speaks of",
			subject(e), clean(e.Path, 256), at.what)
		return true
	}, profile.KindRead)
}

// settings tells whether an environment file is the server's own: it reads it
// before any call, or has done so.
func (in Input) settings(e profile.Effect) bool {
	return !asked(e.Phase) || slices.ContainsFunc(in.Profile.Effects, func(other profile.Effect) bool {
		return other.Kind == profile.KindRead && other.Path == e.Path && !asked(other.Phase)
	})
}

// asked tells whether the first call had come: what the server loads for itself
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
		if at, ok := locate(file); ok {
			if at.spokenOf(in.Scope, e) {
				return false
			}
			what = at.what
		}
		verb := "read"
		if strings.HasPrefix(e.Operation, "rename") || strings.HasPrefix(e.Operation, "link") {
			verb = "gave another name to"
		}
		d.severity, d.object = report.SeverityHigh, file
		d.message = sentence("%s %s the decoy secret %s (%s), which nothing in its declaration speaks of",
			subject(e), verb, clean(file, 256), what)
		return true
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
