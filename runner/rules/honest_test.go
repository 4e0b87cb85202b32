package rules

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// A server that runs its own code in another process starts no program.
func TestOwnCode(t *testing.T) {
	const node, own, module = "/usr/bin/node", "/app/server.js", "/app/node_modules/x/dist/index.js"
	for name, tc := range map[string]struct {
		first, then []string
		want        string
	}{
		"forked":            {[]string{node, own}, []string{node, "--max-old-space-size=99", own, "worker"}, ""},
		"a relative name":   {[]string{node, "server.js"}, []string{node, "server.js"}, ""},
		"other code":        {[]string{node, own}, []string{node, "/tmp/other.js"}, "EXEC-001 Medium"},
		"its module":        {[]string{node, module}, []string{node, "/app/node_modules/x/dist/worker.js"}, ""},
		"another program":   {[]string{node, own}, []string{"/bin/sh", own}, "EXEC-001 Medium"},
		"code, as argument": {[]string{node, own}, []string{node, "-e", "1", own}, "EXEC-001 Medium"},
		"code, loaded":      {[]string{node, own}, []string{node, "--require", own, own}, "EXEC-001 Medium"},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, input(silent, run(startup, tc.first...), run(call, tc.then...)), tc.want)
		})
	}
}

// To end a process is no evasion of a tool that says so, and one of any other.
func TestDeclaredSignal(t *testing.T) {
	kill := evade(call, "kill", "", false)
	killer := server{tools: []string{"format_note: Terminates a running process by its PID.", "other: Formats."}}
	expect(t, input(killer, with(kill, func(e *profile.Effect) {
		e.Where = where(report.PhaseCall, "other", report.AttributionInFlight)
	})), "EVADE-001 High")
	expect(t, input(killer, kill), "")
	expect(t, input(killer, with(kill, func(e *profile.Effect) { e.Operation = "ptrace" })), "EVADE-001 High")
	expect(t, input(killer, with(kill, func(e *profile.Effect) { e.Where = idle })), "EVADE-001 High")
}

// Settings that the server has read when it started it may read again.
func TestSettingsAgain(t *testing.T) {
	expect(t, input(silent, read(startup, "/app/.env"), read(call, "/app/.env")), "")
	expect(t, input(silent, read(startup, "/app/.env"), read(call, "/home/u/.env")), "FILE-001 High: Tool format_note read /home/u/.env")
}

// What the server does again and again from its start on is one finding about it,
// and none about each tool that was called meanwhile.
func TestGoesOn(t *testing.T) {
	meanwhile := call
	meanwhile.Attribution, meanwhile.AlternativeCause = report.AttributionOverlap, startup.Capability
	first, again := connect(startup, "tcp", "1.2.3.4", 1), connect(meanwhile, "tcp", "1.2.3.4", 1)
	expect(t, input(local, first, again), "EGRESS-004 High: At start-up the server tried to connect to 1.2.3.4:1")
	expect(t, input(local, again), "EGRESS-001 High: Tool format_note tried to connect to 1.2.3.4:1")
	if got := Judge(input(local, first, connect(call, "tcp", "1.2.3.4", 1))); len(got) != 2 {
		t.Errorf("what a call did by itself: %q", lines(got))
	}
}

// What looks for a newer version of the server reads the settings of npm.
func TestRoutineInHandshake(t *testing.T) {
	expect(t, input(silent, read(where(report.PhaseHandshake, "", report.AttributionSettle), home+"/.netrc")), "")
}

// Who reads the environment of every process is one finding.
func TestAllProcesses(t *testing.T) {
	expect(t, input(silent, read(call, "/proc/7/environ"), read(call, "/proc/8/environ")), "FILE-001 High: Tool format_note read /proc/7/environ")
}
