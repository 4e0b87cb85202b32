package rules

import (
	"path"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

var undeclaredSubprocess = Rule{
	ID: "MCPA-EXEC-001", Severity: report.SeverityMedium, Title: "Undeclared subprocess",
	Description: "A program was started after start-up, with success, and nothing in the declaration speaks of running " +
		"anything. What a launcher starts until the server reads its first request is no finding, nor are the programs " +
		"by which runtimes ask about the system they are on (uname, ldconfig).",
	Fix: "Say in the description which programs the capability runs; or do without them.",
}

// inquiries are programs that language runtimes start by themselves: Python's
// ctypes and platform modules, for instance. They count only where systems have
// them (bin): anything can be called uname.
var (
	inquiries = map[string]bool{"ldconfig": true, "ldconfig.real": true, "uname": true, "lsb_release": true}
	bin       = map[string]bool{"/bin": true, "/sbin": true, "/usr/bin": true, "/usr/sbin": true}
)

func inquiry(program string) bool { return inquiries[path.Base(program)] && bin[path.Dir(program)] }

func findSubprocesses(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		if e.Error != "" || e.Phase == report.PhaseStartup || inquiry(e.Path) || fromMemory(e.Path) ||
			len(in.Scope.Covering(e.Capability).Subprocess) > 0 {
			return false
		}
		d.severity, d.object = report.SeverityMedium, e.Path
		d.message = sentence("%s started %s; nothing in its declaration speaks of running programs", subject(e), program(e))
		return true
	}, profile.KindExec)
}

// program is a program with its arguments: `/bin/sh (sh -c "id")`.
func program(e profile.Effect) string {
	if len(e.Argv) == 0 {
		return clean(e.Path, 256)
	}
	return clean(e.Path, 256) + " (" + clean(strings.Join(e.Argv, " "), 120) + ")"
}

// fromMemory tells whether a program has no file: memfd_create(2).
func fromMemory(name string) bool { return strings.HasPrefix(name, "/memfd:") }
