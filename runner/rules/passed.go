package rules

import (
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// PassedOn is an argument of a capability that left in a call of another one.
type PassedOn struct {
	Of, By   report.Capability
	Host     string
	Evidence report.Evidence
}

// findPassedOn finds what a capability that denies the network was told, and another sent.
func findPassedOn(in Input) (all []draft) {
	for _, p := range in.PassedOn {
		stance, clause := in.Scope.Network(p.Of)
		if stance != scope.Denied {
			continue
		}
		all = append(all, draft{
			severity: report.SeverityHigh, phase: report.PhaseCall, capability: p.Of, object: clean(p.Host, 100),
			message:  sentence("What %s was told left in a call of %s, to %s; %s", name(p.Of), name(p.By), clean(p.Host, 100), against(stance, clause, p.Of)),
			evidence: p.Evidence,
		})
	}
	return all
}
