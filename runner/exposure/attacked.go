package exposure

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// minTried is how many attempts at one argument have to have failed before its bound held:
// the likeliest come first.
const minTried = 8

// attacked takes in what the attempts on the server's guards have shown: where one succeeded,
// its argument decides; a part that none of them led out of is bounded.
func (b *builder) attacked() {
	tried, broken := b.tried()
	for k, i := range b.items {
		if i.reach != report.ReachPartial || i.basis != report.BasisProven || len(i.arguments) == 0 || len(i.arguments) == maxNamed || !b.Attacked {
			continue // of maxNamed there may be more
		}
		if !slices.ContainsFunc(i.arguments, func(name string) bool { return tried[place{k, name}] < minTried || broken[place{k, name}] }) {
			i.reach = report.ReachBounded
		}
	}
}

// tried are how often each argument was attacked, and those of which not all attempts have failed. What
// succeeded is noted.
func (b *builder) tried() (tried map[place]int, broken map[place]bool) {
	tried, broken = map[place]int{}, map[place]bool{}
	succeeded, left := b.Succeeded(), b.Left()
	for _, a := range b.Attack.Attempts {
		if a.Aim == attack.AimAllowed || a.Aim == attack.AimSibling {
			continue // which is within the bound
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

// broken notes an attempt that succeeded, unless it lies within a bound after all. An option
// decides no more than a part.
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
	case a.Family == attack.Path && isFile && (a.Link || b.dirBound(e.Path) == ""):
		b.note(a.Of, kind, seen)
	}
}

// place is an argument, and what it decides a part of.
type place struct {
	key
	argument string
}

// testedBy are the kinds of exposure that a family of attempts is a test of.
var testedBy = map[attack.Family][]report.ExposureKind{
	attack.Path:    {report.ExposesFileRead, report.ExposesFileWrite, report.ExposesFileDelete},
	attack.Command: {report.ExposesCommandExecution, report.ExposesCodeExecution},
	attack.Option:  {report.ExposesCommandExecution, report.ExposesCodeExecution},
	attack.Code:    {report.ExposesCodeExecution},
	attack.Egress:  {report.ExposesNetworkEgress},
	attack.Query:   {report.ExposesDatabaseQuery},
	attack.Write:   {report.ExposesDatabaseQuery},
}
