package report

import (
	"cmp"
	"fmt"
	"slices"
)

// Enabled lists what a server newly enables since an earlier audit: a capability with a new
// kind of exposure, or with an argument that decides more. It is nil unless both audits had
// the same rules, were complete, and exercised and attacked the server in the same way.
//
// Exposure that no argument decides is left to the comparison of the behaviour.
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

// alikeExposed reports whether two audits had the same chance to observe exposure.
func alikeExposed(a, b Report) bool {
	return a.RulesetDigest == b.RulesetDigest && a.Incomplete == nil && b.Incomplete == nil && alike(a, b) && attacked(a) == attacked(b)
}

// reach returns the furthest reach of the proven items that match; "" for none.
func (e Exposure) reach(of func(ExposureItem) bool) (furthest Reach) {
	for _, item := range e.Items {
		if item.Basis == BasisProven && of(item) && (furthest == "" || item.Reach.AtLeast(furthest)) {
			furthest = item.Reach
		}
	}
	return furthest
}

// decided ranks how much an argument decides. Partial and Bounded rank the same: whether a
// bound was attacked enough differs between audits of the same server.
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

// GapUntriedGuards is the Gap.What of guards that were not tried.
const GapUntriedGuards = "UntriedGuards"

// UntriedGuards says why not all guards of the server were tried; "" if all were.
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
