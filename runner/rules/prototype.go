package rules

import "github.com/mcpaudit/mcpaudit/api/report"

// findPolluted finds arguments that were merged into the prototype of all objects.
func findPolluted(in Input) (all []draft) {
	for _, s := range in.Attack.Polluted {
		all = append(all, draft{
			severity: report.SeverityHigh, phase: report.PhaseCall, capability: s.Of, object: name(s.Of),
			message: sentence("%s merged its argument %s into the prototype of all objects, %s: %s, called without such an argument, answered %s", capital(name(s.Of)),
				quoted(clean(s.Field, 64)), s.Form, name(s.By), quoted(clean(s.Answer, 120))),
			evidence: evidenceAt(in.End, "tools/call "+clean(s.By.Name, 64)+": "+clean(s.Answer, 400)),
		})
	}
	return all
}
