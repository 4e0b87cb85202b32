package rules

import (
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

// PassedOn is an argument of a capability that left in a call of another one.
type PassedOn struct {
	Of, By report.Capability
	Host   string
	// Answer: it is part of an address in the answer.
	Answer   bool
	Evidence report.Evidence
}

// findPassedOn finds what a capability that denies the network was told, and another sent.
func findPassedOn(in Input) (all []draft) {
	for _, p := range in.PassedOn {
		stance, clause := in.Scope.Network(p.Of)
		if _, onlyHint := in.hintOnly(p.Of); onlyHint || stance != scope.Denied {
			continue // openWorldHint says less: the server may name its service
		}
		if p.Evidence.Time.IsZero() {
			p.Evidence.Time = report.At(in.End)
		}
		how := "What %s was told left in a call of %s, to %s; %s"
		if p.Answer {
			how = "What %s was told is in an answer of %s, as part of an address of %s that clients load or show as a link; %s"
		}
		all = append(all, draft{
			severity: report.SeverityHigh, phase: report.PhaseCall, capability: p.Of, object: clean(p.Host, 100),
			message:  sentence(how, name(p.Of), name(p.By), clean(p.Host, 100), against(stance, clause, p.Of)),
			evidence: p.Evidence,
		})
	}
	return all
}
