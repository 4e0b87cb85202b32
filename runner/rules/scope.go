package rules

import (
	"math"
	"strings"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// scopeRules are about a declared scope that does not fit.
var scopeRules = []family{
	{unusedScope, findUnused},
}

var unusedScope = Rule{
	ID: "MCPA-SCOPE-001", Severity: report.SeverityInfo, Title: "Declared but not observed",
	Description: "The operator's declared scope (spec.declaredScope, --scope) has entries of egress, writePaths, exec or listen that " +
		"nothing used, not even without success, in an audit that was watched to its end and in which every capability accepted a call. " +
		"One finding for each list. What a server declares of itself is never held against it in this way, nor is readPaths: what runtimes " +
		"read by themselves is not in the profile. Addresses and CIDR blocks are left out while names were looked up: in the sandbox, " +
		"names have other addresses.",
	Fix: "Nothing has to be done in the server: the entries are the operator's.",
	Expected: "An entry for what the server does rarely, or only with arguments that the audit did not think of. The finding is Info, and " +
		"says what was not seen, not that it is not needed.",
	Mitigation: "Take {object} out of the declared scope, or leave it and say in a suppression what it is for.",
	References: []string{"OWASP MCP02:2025"},
}

// unusedKinds are the lists of which an audit sees what uses them.
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
			object: list, order: math.MaxInt,
			message: sentence("The declared scope has entries in %s that nothing in this audit used: %s", kind, list),
			evidence: report.Evidence{
				Time: in.End, Detail: string(kind) + ": " + list, Attribution: report.AttributionPhase,
			},
		})
	}
	return all
}
