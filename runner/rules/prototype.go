package rules

import "github.com/mcpaudit/mcpaudit/api/report"

// findPolluted finds arguments that were merged into the prototype of all objects.
func findPolluted(in Input) (all []draft) {
	for _, s := range in.Attack.Polluted {
		shown := name(s.By) + ", called without such an argument, answered"
		if s.Member {
			shown = "the call's own result has the value as a member beside its content,"
		}
		if s.Deaf {
			shown = "the call was not answered, and a request for the tools was then refused with"
		}
		all = append(all, draft{
			severity: report.SeverityHigh, phase: report.PhaseCall, capability: s.Of, object: name(s.Of),
			message: sentence("%s merged its argument %s into the prototype of all objects, %s: %s %s", capital(name(s.Of)),
				quoted(clean(s.Field, 64)), s.Form, shown, quoted(clean(s.Answer, 120))),
			evidence: evidenceAt(in.End, "tools/call "+clean(s.By.Name, 64)+": "+clean(s.Answer, 400)),
		})
	}
	return all
}
