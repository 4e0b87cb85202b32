package exposure

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// minTried is the number of attempts at one argument that must fail before its bound counts as held:
// the likeliest come first.
const minTried = 8

// attacked judges the attempts on the server's guards: if one succeeded, its argument decides everything; if all failed,
// the part that the argument decides is bounded. A capability that accepts no call refuses attempts whatever its guards.
func (b *builder) attacked() {
	tried, broken := b.tried()
	for k, i := range b.items {
		if b.refusesAll(k.of) {
			continue
		}
		if i.reach != report.ReachPartial || i.basis != report.BasisProven || len(i.arguments) == 0 || len(i.arguments) == maxNamed || !b.Attacked {
			continue // beyond maxNamed there may be more arguments
		}
		if !slices.ContainsFunc(i.arguments, func(name string) bool { return tried[place{k, name}] < minTried || broken[place{k, name}] }) {
			i.reach = report.ReachBounded
		}
	}
}

// refusesAll reports whether a capability accepted no call.
func (b *builder) refusesAll(of report.Capability) bool {
	return slices.ContainsFunc(b.Exercise, func(row report.CapabilityCoverage) bool {
		return row.Kind == of.Kind && row.Name == of.Name && row.Calls.Done == 0
	})
}

// tried counts the attempts on each argument, finds the arguments for which not all failed, and notes
// the attempts that succeeded.
func (b *builder) tried() (tried map[place]int, broken map[place]bool) {
	tried, broken = map[place]int{}, map[place]bool{}
	succeeded, left := b.Succeeded(), b.Left()
	for _, a := range b.Attack.Attempts {
		if a.Aim == attack.AimAllowed || a.Aim == attack.AimSibling {
			continue // it is within the bound
		}
		e, proven := succeeded(a)
		for _, kind := range testedBy[a.Family] {
			at := place{key{a.Of, kind}, withoutIndex(a.Field)}
			tried[at]++
			broken[at] = broken[at] || proven || left(a) || !a.Answered
		}
		if proven {
			b.broken(a, e)
		}
	}
	return tried, broken
}

// broken notes an attempt that succeeded, unless it stayed within a bound. An attempt with an
// option is not noted: an option decides only a part.
func (b *builder) broken(a attack.Attempt, e profile.Effect) {
	seen := sighting{reach: report.ReachArbitrary, argument: a.Field, evidence: e.Evidence()}
	switch kind, isFile := fileKinds[e.Kind]; {
	case a.Family == attack.Command:
		b.note(a.Of, report.ExposesCommandExecution, seen)
	case a.Family == attack.Code:
		b.note(a.Of, report.ExposesCodeExecution, seen)
	case a.Family == attack.Query, a.Family == attack.Write:
		b.note(a.Of, report.ExposesDatabaseQuery, seen)
	case a.Family == attack.Egress && isFile:
		b.note(a.Of, kind, seen)
	case a.Family == attack.Egress:
		b.note(a.Of, report.ExposesNetworkEgress, seen)
	case a.Family == attack.Path && a.Link && len(b.roots)+len(b.Dirs) == 0 && !b.Confined(a): // a link may lead outside on purpose
	case a.Family == attack.Path && isFile && (a.Link || b.dirBound(e.Path) == ""):
		b.note(a.Of, kind, seen)
	}
}

// place is an argument and the exposure that it decides a part of.
type place struct {
	key
	argument string
}

// testedBy lists the kinds of exposure that a family of attempts tests.
var testedBy = map[attack.Family][]report.ExposureKind{
	attack.Path:    {report.ExposesFileRead, report.ExposesFileWrite, report.ExposesFileDelete},
	attack.Command: {report.ExposesCommandExecution, report.ExposesCodeExecution},
	attack.Option:  {report.ExposesCommandExecution, report.ExposesCodeExecution},
	attack.Code:    {report.ExposesCodeExecution},
	attack.Egress:  {report.ExposesNetworkEgress},
	attack.Query:   {report.ExposesDatabaseQuery},
	attack.Write:   {report.ExposesDatabaseQuery},
}
