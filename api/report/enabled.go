package report

import (
	"cmp"
	"fmt"
	"slices"
)

// Enabled lists what a server enables and did not in an earlier audit: a capability that
// does what it did not, or whose argument decides more. It is nil unless both audits were made
// by the same rules, saw everything, and exercised and attacked the server in the same way.
//
// Where no argument decides, it is the behaviour that has changed, and is compared as that.
func Enabled(before, after Report) (all []string) {
	if before.Exposure == nil || after.Exposure == nil || !alikeExposed(before, after) {
		return nil
	}
	for _, item := range after.Exposure.Items {
		was := before.Exposure.reach(func(i ExposureItem) bool {
			return i.Kind == item.Kind && i.Capability == item.Capability
		})
		if item.Basis != BasisProven || item.Reach == ReachFixed || decided(item.Reach) <= decided(was) || was == "" && before.Exposure.Dropped > 0 {
			continue
		}
		text := fmt.Sprintf("%s: %s", Cut(item.Capability.String(), 256), Exposed{item.Kind, item.Reach})
		if was != "" {
			text += ", was " + string(was)
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

// alikeExposed reports whether two audits had the same chance to see what the server enables.
func alikeExposed(a, b Report) bool {
	return a.RulesetDigest == b.RulesetDigest && a.Incomplete == nil && b.Incomplete == nil && alike(a, b) && attacked(a) == attacked(b)
}

// reach is the furthest of what was seen and is meant; "" for none.
func (e Exposure) reach(of func(ExposureItem) bool) (furthest Reach) {
	for _, item := range e.Items {
		if item.Basis == BasisProven && of(item) && (furthest == "" || item.Reach.AtLeast(furthest)) {
			furthest = item.Reach
		}
	}
	return furthest
}

// decided orders how much an argument decides. That a bound was not attacked enough differs
// between two audits of the same server.
func decided(r Reach) int {
	switch r {
	case "":
		return 0
	case ReachFixed:
		return 1
	case ReachPartial, ReachBounded:
		return 2
	}
	return 3
}

// GapUntriedGuards is Gap.What for guards that were not tried.
const GapUntriedGuards = "UntriedGuards"

// UntriedGuards says why the guards of the server were not tried, or not all of them; "" if
// they were.
func (r Report) UntriedGuards() string {
	if i := slices.IndexFunc(r.Unobserved, func(g Gap) bool { return g.What == GapUntriedGuards }); i >= 0 {
		return cmp.Or(r.Unobserved[i].Detail, GapUntriedGuards)
	}
	i := slices.IndexFunc(r.Probe.Runs, func(l Launch) bool { return l.For == LaunchAttack })
	if i < 0 {
		return "the server was not started for that"
	}
	return r.Probe.Runs[i].Skipped
}

// attacked reports whether the guards of the server were tried.
func attacked(r Report) bool {
	return slices.ContainsFunc(r.Probe.Runs, func(l Launch) bool { return l.For == LaunchAttack && l.Skipped == "" })
}
