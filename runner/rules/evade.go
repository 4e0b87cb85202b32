package rules

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

var evasion = Rule{
	ID: "MCPA-EVADE-001", Severity: report.SeverityHigh, Title: "Call that could hide from the tracer",
	Description: "A system call was made by which a program can hide from a tracer, get at another process, or leave its " +
		"sandbox: ptrace, arguments that the tracer could not read, a socket of AF_VSOCK, a seccomp filter with a listener " +
		"or a mount that worked (High); process_vm_readv, prctl PR_SET_DUMPABLE, signals to processes that are not the server's, " +
		"namespaces, bpf, a program run from memory (Medium). " +
		"io_uring that the sandbox refused is no finding: Node and others try it at every start.",
	Fix: "Do without; if the server needs it, say so in its description and suppress the finding with that reason.",
}

// conceals are the calls after which the trace is not to be trusted: files have
// other names than those that the rules know, or calls are not seen at all.
var conceals = map[string]bool{
	"mount": true, "move_mount": true, "open_tree": true, "fsmount": true, "mount_setattr": true, "pivot_root": true,
	"umount2": true, "setns": true, "seccomp": true,
}

func findEvasion(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		d.severity, d.object = report.SeverityMedium, e.Operation
		switch {
		case e.Kind == profile.KindExec:
			d.object = e.Path
			d.message = sentence("%s ran a program that has no file: %s", subject(e), program(e))
			return e.Error == "" && fromMemory(e.Path)
		case e.Blinded:
			d.severity, d.object = report.SeverityHigh, "blinded"
			d.message = sentence("%s made the arguments of its %s unreadable for the tracer", subject(e), e.Operation)
			return true
		case strings.HasPrefix(e.Operation, "io_uring"):
			d.message = sentence("%s used io_uring, which the tracer does not see into", subject(e))
			d.severity = report.SeverityHigh
			return !e.Refused && e.Error == ""
		case e.Operation == trace.Forbidden:
			d.severity = report.SeverityHigh
			d.message = sentence("%s was killed (SIGSYS) for a system call that is forbidden, "+
				"such as a socket of AF_VSOCK, which no network namespace holds", subject(e))
			return true
		case e.Operation == "ptrace", e.Error == "" && conceals[e.Operation]:
			d.severity = report.SeverityHigh
		}
		verb := "called"
		if e.Error != "" {
			verb = "tried to call"
		}
		d.message = sentence("%s %s %s, by which a program can hide or reach beyond itself", subject(e), verb, e.Operation)
		return true
	}, profile.KindEvade, profile.KindExec)
}
