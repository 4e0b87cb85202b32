package rules

import (
	"path"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/syscalls"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// way describes a dangerous call.
type way struct {
	what string
	// high is set for High in any case, worked for High if the call succeeded.
	high, worked bool
}

// ways describes each danger; others get a general description.
var ways = map[syscalls.Danger]way{
	syscalls.Tracing:         {what: "by which a process watches another, or finds out that it is watched", high: true},
	syscalls.Signalling:      {what: "to send a signal to a process that is not its own", high: true},
	syscalls.AsyncIO:         {what: "which the tracer does not see into", high: true},
	syscalls.ForeignMemory:   {what: "by which a process gets at another's memory or descriptors"},
	syscalls.Mounting:        {what: "after which files have other names than the tracer knows", worked: true},
	syscalls.JoinNamespace:   {what: "to enter other namespaces", worked: true},
	syscalls.NewNamespace:    {what: "to leave its namespaces"},
	syscalls.SeccompListener: {what: "with a listener, by which calls go past the tracer", worked: true},
	syscalls.Hiding:          {what: "to become unreadable for a tracer, or to catch its own calls"},
	syscalls.Machine:         {what: "by which a program watches or changes the machine"},
	syscalls.WideSocket:      {what: "for a socket that sees or reaches more than the server's own network"},
	syscalls.FileHandle:      {what: "to open a file past every name"},
	syscalls.Keyrings:        {what: "to get at the user's key rings, which no sandbox holds"},
}

// runtime reports whether runtimes try a call and do without it when it is refused.
func runtime(e profile.Effect) bool {
	return syscalls.Find(e.Operation).Danger == syscalls.AsyncIO && (e.Refused || e.Error != "")
}

// signals reports whether a tool for ending processes signals one, whose number the audit
// made up.
func (in Input) signals(e profile.Effect) bool {
	return syscalls.Find(e.Operation).Danger == syscalls.Signalling && e.Capability.Kind == report.CapabilityTool &&
		in.Scope.Covering(e.Capability).Mentions("kill", "kills", "terminate", "terminates", "signal", "signals") &&
		in.Scope.Covering(e.Capability).Mentions("process", "processes", "pid", "pids")
}

// browsers are the programs of browsers, confinement the calls by which they sandbox their
// own processes.
var (
	browsers = map[string]bool{"chrome": true, "google-chrome": true, "google-chrome-stable": true, "chromium": true, "chromium-browser": true,
		"headless_shell": true, "chrome-headless-shell": true, "msedge": true, "microsoft-edge": true, "firefox": true, "MiniBrowser": true, "brave": true}
	confinement = map[string]bool{"unshare": true, "clone": true, "clone3": true, "chroot": true, "prctl": true}
	browsing    = []string{"browser", "browsers", "chrome", "chromium", "firefox", "webkit", "playwright", "puppeteer", "devtools", "headless",
		"webpage", "page", "pages", "screenshot", "screenshots", "url", "website", "web"}
)

// confines reports whether a declared browser sandboxes itself.
func (in Input) confines(e profile.Effect) bool {
	return confinement[e.Operation] && browsers[path.Base(e.Within)] && in.Scope.Covering(e.Capability).Mentions(browsing...)
}

// ordered reports whether a call failed that belongs to a program which an argument for commands named, such as umount(8).
func (in Input) ordered(e profile.Effect) bool {
	return e.Error != "" && e.Within != "" && in.ran.told[start{e.Capability, e.Within}]
}

// did returns the first verb for a call that worked, the second for one that failed.
func did(e profile.Effect, worked, failed string) string {
	if e.Error != "" {
		return failed
	}
	return worked
}

func findEvasion(in Input) []draft {
	return each(in, func(e profile.Effect, d *draft) bool {
		d.severity, d.object = report.SeverityMedium, e.Operation
		how, known := ways[syscalls.Find(e.Operation).Danger]
		switch {
		case e.Kind == profile.KindExec:
			d.object = e.Path
			d.message = sentence("%s ran a program that has no file: %s", subject(e), program(e))
			return e.Error == "" && fromMemory(e.Path)
		case runtime(e), in.signals(e), in.confines(e), in.ordered(e):
			return false
		case e.Path == trace.ForeignMemory:
			d.object = e.Path
			d.message = sentence("%s %s the memory of another process for writing (%s), by which it can have that run any code",
				subject(e), did(e, "opened", "tried to open"), e.Path)
			return true
		case e.Blinded:
			d.severity, d.object = report.SeverityHigh, "blinded"
			d.message = sentence("%s made the arguments of its %s unreadable for the tracer", subject(e), e.Operation)
			return true
		case e.Operation == trace.Forbidden:
			d.severity = report.SeverityHigh
			d.message = sentence("%s was killed (SIGSYS) for a system call by which it would have left the sandbox or the tracer's sight: "+
				"one of another ABI (int 0x80, x32), CLONE_UNTRACED, a seccomp listener, or a socket of AF_VSOCK", subject(e))
			return true
		case !known:
			how.what = "by which a program can hide or reach beyond itself"
		}
		if how.high || how.worked && e.Error == "" {
			d.severity = report.SeverityHigh
		}
		d.message = sentence("%s %s %s, %s", subject(e), did(e, "called", "tried to call"), e.Operation, how.what)
		return true
	}, profile.KindEvade, profile.KindExec)
}
