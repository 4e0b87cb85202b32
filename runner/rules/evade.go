package rules

import (
	"path"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

var evasionRules = []family{
	{evasion, findEvasion},
}

var evasion = Rule{
	ID: "MCPA-EVADE-001", Severity: report.SeverityHigh, Title: "Call that could hide from the tracer",
	Description: "A system call was made, or tried, by which a program can hide from a tracer, get at another process, or " +
		"leave its sandbox. High: ptrace, signals to processes that are not the server's, arguments that the tracer could " +
		"not read, a mount or seccomp listener that worked, and whatever the sandbox kills for (another ABI such as " +
		"int 0x80, CLONE_UNTRACED, a seccomp listener, AF_VSOCK). Medium: another process's memory or descriptors, " +
		"namespaces, prctl that makes the process unreadable, bpf, sockets that see other traffic, kernel modules, " +
		"a program run from memory. " +
		"What runtimes try at every start is no finding: io_uring and clone3, which the sandbox refuses as if the kernel " +
		"had none, calls that are newer than the tracer, signal 0, signals that a tool is declared to send, and the " +
		"namespaces in which a browser shuts its own processes, where the declaration speaks of pages or browsers.",
	Fix: "Do without; if the server needs it, say so in its description and suppress the finding with that reason.",
	Expected: "A browser or a container tool sandboxes itself by namespaces, a debugger traces, a profiler reads another's memory: " +
		"each does what the rule says. A browser that the server starts as a program of its own is known and left out. That /proc/self/status " +
		"is read, where the number of a tracer stands, is no finding at all: libnuma, psutil and .NET read it for other reasons.",
	Mitigation: "Run the server with seccompProfile RuntimeDefault or a narrower one that refuses {object}, with all capabilities dropped and " +
		"allowPrivilegeEscalation: false; with hostPID: false and no shareProcessNamespace it sees no process but its own.",
	References: []string{"OWASP MCP08:2025", "SAFE-T1303"},
}

// way says what a call is good for, in a sentence behind "called NAME".
type way struct {
	what string
	// high: serious whatever came of it; worked: where it was not refused.
	high, worked bool
}

var (
	tracing    = way{what: "by which a process watches another, or finds out that it is watched", high: true}
	signalling = way{what: "to send a signal to a process that is not its own", high: true}
	memory     = way{what: "by which a process gets at another's memory or descriptors"}
	mounting   = way{what: "after which files have other names than the tracer knows", worked: true}
	namespace  = way{what: "to leave its namespaces"}
	kernel     = way{what: "by which a program watches or changes the machine"}
	keyring    = way{what: "to get at the user's key rings, which no sandbox holds"}
)

// ways are those of the calls that evade; others get a general word.
var ways = map[string]way{
	"ptrace": tracing,
	"kill":   signalling, "tkill": signalling, "tgkill": signalling, "pidfd_send_signal": signalling,
	"rt_sigqueueinfo": signalling, "rt_tgsigqueueinfo": signalling,
	"process_vm_readv": memory, "process_vm_writev": memory, "pidfd_getfd": memory, "userfaultfd": memory,
	"mount": mounting, "move_mount": mounting, "open_tree": mounting, "fsmount": mounting, "mount_setattr": mounting,
	"pivot_root": mounting, "umount2": mounting, "fsopen": mounting, "fsconfig": mounting, "fspick": mounting, "chroot": mounting,
	"setns":   {what: "to enter other namespaces", worked: true},
	"unshare": namespace, "clone": namespace, "clone3": namespace,
	"seccomp": {what: "with a listener, by which calls go past the tracer", worked: true},
	"prctl":   {what: "to become unreadable for a tracer, or to catch its own calls"},
	"bpf":     kernel, "perf_event_open": kernel, "fanotify_init": kernel, "init_module": kernel, "finit_module": kernel,
	"delete_module": kernel, "kexec_load": kernel, "kexec_file_load": kernel, "clock_settime": kernel, "settimeofday": kernel,
	"reboot": kernel, "swapon": kernel, "swapoff": kernel, "acct": kernel, "quotactl": kernel, "quotactl_fd": kernel,
	"syslog": kernel, "iopl": kernel, "ioperm": kernel, "sethostname": kernel, "setdomainname": kernel,
	"socket":            {what: "for a socket that sees or reaches more than the server's own network"},
	"open_by_handle_at": {what: "to open a file past every name"},
	"keyctl":            keyring, "add_key": keyring, "request_key": keyring,
}

// runtime reports whether a call is one that runtimes try, and do without when the
// sandbox refuses it.
func runtime(e profile.Effect) bool {
	return strings.HasPrefix(e.Operation, "io_") && (e.Refused || e.Error != "")
}

// signals reports whether a call does what its tool is there for: to end a process
// whose number the audit itself has made up.
func (in Input) signals(e profile.Effect) bool {
	return ways[e.Operation] == signalling && e.Capability.Kind == report.CapabilityTool &&
		in.Scope.Covering(e.Capability).Mentions("kill", "kills", "terminate", "terminates", "signal", "signals") &&
		in.Scope.Covering(e.Capability).Mentions("process", "processes", "pid", "pids")
}

// browsers are the programs of browsers by their names, and confinement are the calls
// by which those shut their own processes in.
var (
	browsers = map[string]bool{"chrome": true, "google-chrome": true, "google-chrome-stable": true, "chromium": true, "chromium-browser": true,
		"headless_shell": true, "chrome-headless-shell": true, "msedge": true, "microsoft-edge": true, "firefox": true, "MiniBrowser": true, "brave": true}
	confinement = map[string]bool{"unshare": true, "clone": true, "clone3": true, "chroot": true, "prctl": true}
	browsing    = []string{"browser", "browsers", "chrome", "chromium", "firefox", "webkit", "playwright", "puppeteer", "devtools", "headless",
		"webpage", "page", "pages", "screenshot", "screenshots", "url", "website", "web"}
)

// confines reports whether a browser, which the declaration speaks of, shuts in itself.
func (in Input) confines(e profile.Effect) bool {
	return confinement[e.Operation] && browsers[path.Base(e.Within)] && in.Scope.Covering(e.Capability).Mentions(browsing...)
}

func findEvasion(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		d.severity, d.object = report.SeverityMedium, e.Operation
		how, known := ways[e.Operation]
		switch {
		case e.Kind == profile.KindExec:
			d.object = e.Path
			d.message = sentence("%s ran a program that has no file: %s", subject(e), program(e))
			return e.Error == "" && fromMemory(e.Path)
		case runtime(e), in.signals(e), in.confines(e):
			return false
		case e.Blinded:
			d.severity, d.object = report.SeverityHigh, "blinded"
			d.message = sentence("%s made the arguments of its %s unreadable for the tracer", subject(e), e.Operation)
			return true
		case e.Operation == trace.Forbidden:
			d.severity = report.SeverityHigh
			d.message = sentence("%s was killed (SIGSYS) for a system call by which it would have left the sandbox or the tracer's sight: "+
				"one of another ABI (int 0x80, x32), CLONE_UNTRACED, a seccomp listener, or a socket of AF_VSOCK", subject(e))
			return true
		case strings.HasPrefix(e.Operation, "io_"):
			d.severity, how.what = report.SeverityHigh, "which the tracer does not see into"
		case !known:
			how.what = "by which a program can hide or reach beyond itself"
		}
		if how.high || how.worked && e.Error == "" {
			d.severity = report.SeverityHigh
		}
		verb := "called"
		if e.Error != "" {
			verb = "tried to call"
		}
		d.message = sentence("%s %s %s, %s", subject(e), verb, e.Operation, how.what)
		return true
	}, profile.KindEvade, profile.KindExec)
}
