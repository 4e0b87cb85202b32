package rules

import (
	"path"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// lingering are words of declarations that something goes on after a call.
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
