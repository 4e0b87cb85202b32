package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEnabled: what a server enables and did not, of two audits that can be compared.
func TestEnabled(t *testing.T) {
	with := func(items ...ExposureItem) Report {
		e := ExposureOf(items)
		return Report{Exposure: &e}
	}
	shell := func(reach Reach) ExposureItem {
		return exposed("run", ExposesCommandExecution, reach, BasisProven)
	}
	bounded, arbitrary := with(shell(ReachBounded)), with(shell(ReachArbitrary))
	other := func(change func(*Report)) Report {
		r := arbitrary
		change(&r)
		return r
	}
	grown := []string{"tool run: CommandExecution (Arbitrary), was Bounded"}
	for name, tc := range map[string]struct {
		before, after Report
		want          []string
	}{
		"more":                          {bounded, arbitrary, grown},
		"less":                          {arbitrary, bounded, nil},
		"the same, not attacked enough": {bounded, with(shell(ReachPartial)), nil},
		"another tool": {bounded, with(shell(ReachBounded), exposed("sh", ExposesCommandExecution, ReachPartial, BasisProven)),
			[]string{"tool sh: CommandExecution (Partial)"}},
		"what no argument decides":       {bounded, with(shell(ReachBounded), exposed("up", ExposesSecrets, ReachFixed, BasisProven)), nil},
		"what is only said":              {with(), with(exposed("run", ExposesCommandExecution, ReachPartial, BasisDeclared)), nil},
		"what the baseline left out":     {Report{Exposure: &Exposure{Dropped: 1}}, arbitrary, nil},
		"a baseline without an exposure": {Report{}, arbitrary, nil},
		"by other rules":                 {bounded, other(func(r *Report) { r.RulesetDigest = "x" }), nil},
		"cut short":                      {bounded, other(func(r *Report) { r.Incomplete = &Incomplete{} }), nil},
		"exercised in another way":       {bounded, other(func(r *Report) { r.Probe.Seed = 7 }), nil},
		"attacked, and not before":       {bounded, other(func(r *Report) { r.Probe.Runs = []Launch{{For: LaunchAttack}} }), nil},
		"not attacked either":            {bounded, other(func(r *Report) { r.Probe.Runs = []Launch{{For: LaunchAttack, Skipped: "no"}} }), grown},
	} {
		if diff := cmp.Diff(tc.want, Enabled(tc.before, tc.after)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	drift, found := Compare(bounded, arbitrary)
	if len(found) != 1 || found[0].Rule != RuleEnablesMore || found[0].Severity != SeverityMedium || !cmp.Equal(drift.Exposure, grown) {
		t.Errorf("%+v, %+v", drift, found)
	}
}
