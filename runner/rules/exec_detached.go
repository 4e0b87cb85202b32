package rules

import (
	"path"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

var detachedProcess = Rule{
	ID: "MCPA-EXEC-003", Severity: report.SeverityMedium, Title: "Detached process reached out after its call",
	Description: "A process that a call had started left the server's session (setsid), or outlived its parent, and connected or sent to an " +
		"address outside the machine when the call had been answered; the declaration speaks of the network, but not of work in the " +
		"background, of sessions, jobs or browsers. A host that an argument named is no finding, nor is a browser that waits for the next call, nor a " +
		"process that only lives on. Where the declaration does not speak of the network, the connection is a finding of its own (MCPA-EGRESS-001).",
	Fix:      "End what a call has started before it is answered; or say in the description what goes on in the background, and how it is stopped.",
	Expected: "A download or an upload that a tool leaves to a process of its own and whose description does not say so.",
	Mitigation: "Run the server as the first process of a container of its own, so that nothing outlives it, and without " +
		"shareProcessNamespace; allow {object} in its NetworkPolicy only if it is needed.",
	References: []string{"OWASP MCP05:2025", "SAFE-T1903"},
}

// lingering are the words of those who say that something goes on after a call.
var lingering = []string{"background", "daemon", "daemons", "detached", "async", "asynchronous", "asynchronously", "serve",
	"watch", "watches", "watcher", "monitor", "session", "sessions", "job", "jobs", "task", "tasks", "schedule", "scheduled", "start", "starts",
	"launch", "launches", "spawn", "long-running", "stream", "streaming"}

func findDetached(in Input) []draft {
	return unexplained(each(in, func(e profile.Effect, d *draft) bool {
		stance, _ := in.Scope.Network(e.Capability)
		covering := in.Scope.Covering(e.Capability)
		if !e.Detached || e.Attribution != report.AttributionLineage || stance != scope.Declared || !outward(e) || in.ofMetadata(e) ||
			askedFor(e) || browsers[path.Base(e.Within)] || covering.Mentions(lingering...) || covering.Mentions("browser", "browsers", "playwright", "puppeteer") {
			return false
		}
		d.severity, d.object = report.SeverityMedium, destination(e)
		d.message = sentence("%s, detached from the server, %s after the call had been answered; nothing in its declaration speaks of that", subject(e), action(e))
		return true
	}, profile.KindConnect))
}
