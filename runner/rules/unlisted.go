package rules

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
	"github.com/mcpaudit/mcpaudit/runner/manifest"
)

// powerful matches names of tools that run commands, disclose secrets or serve developers; not "run", with which the
// names of many ordinary tools begin.
var powerful = lazyregexp.New(`(?i)(?:^|[_.-])(?:debug|admin|back-?door|secrets?|hidden|exec|execute|cmd|commands?|shell|bash|eval|dump|environment|credentials?)(?:$|[_.-])`)

// findUnlisted finds tools that no list has and that accepted a call.
func findUnlisted(in Input) (all []draft) {
	for _, t := range in.Attack.Unlisted {
		if in.advertised(t) {
			continue
		}
		d := draft{
			severity: report.SeverityMedium, phase: report.PhaseCall, capability: report.Capability{Kind: report.CapabilityTool, Name: t.Name}, object: t.Name,
			message:  sentence("The server answered a call of the tool %s, which no list of its tools has: %s", quoted(clean(t.Name, 64)), quoted(clean(t.Answer, 120))),
			evidence: evidenceAt(in.End, "tools/call "+clean(t.Name, 64)+": "+clean(t.Answer, 400)),
		}
		if powerful.MatchString(t.Name) {
			d.severity = report.SeverityHigh
		}
		all = append(all, d)
	}
	return all
}

// advertised reports whether the server lists a tool in any surroundings.
func (in Input) advertised(t attack.Taken) bool {
	lists := []manifest.Manifest{in.Manifest}
	for _, other := range in.Others {
		lists = append(lists, other.Manifest)
	}
	return slices.ContainsFunc(lists, func(m manifest.Manifest) bool {
		return slices.ContainsFunc(manifest.Items(report.CapabilityTool, m.Tools), func(i manifest.Item) bool { return i.Name == t.Name })
	})
}
