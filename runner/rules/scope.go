package rules

import (
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// unusedKinds maps the lists whose uses an audit sees to these.
var unusedKinds = map[scope.UseKind][]profile.Kind{
	scope.UseEgress: {profile.KindConnect},
	scope.UseWrite:  {profile.KindWrite, profile.KindDelete, profile.KindAttempt},
	scope.UseExec:   {profile.KindExec},
	scope.UseListen: {profile.KindListen},
}

func findUnused(in Input) []draft {
	if !in.Complete {
		return nil
	}
	var all []draft
	for _, kind := range []scope.UseKind{scope.UseEgress, scope.UseWrite, scope.UseExec, scope.UseListen} {
		var seen []scope.Use
		each(in, func(e profile.Effect, _ *draft) bool {
			seen = append(seen, scope.Use{Kind: kind, Host: e.Host, FQDN: e.FQDN, Address: e.Address, Port: e.Port, Path: e.Path})
			return false
		}, unusedKinds[kind]...)
		entries := in.Scope.Unused(kind, seen)
		if len(entries) == 0 {
			continue
		}
		list := clean(strings.Join(entries, ", "), 256)
		all = append(all, draft{
			severity: report.SeverityInfo, phase: report.PhaseShutdown, capability: report.Capability{Kind: report.CapabilityServer},
			object:   list,
			message:  sentence("The declared scope has entries in %s that nothing in this audit used: %s", kind, list),
			evidence: evidenceAt(in.End, string(kind)+": "+list),
		})
	}
	return all
}
