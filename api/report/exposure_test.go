package report

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func exposed(tool string, kind ExposureKind, reach Reach, basis ExposureBasis) ExposureItem {
	return ExposureItem{Capability: Capability{CapabilityTool, tool}, Kind: kind, Reach: reach, Basis: basis}
}

func TestExposureOf(t *testing.T) {
	for name, tc := range map[string]struct {
		items []ExposureItem
		score int
		level RiskLevel
	}{
		"nothing":            {nil, 0, RiskNone},
		"a shell":            {[]ExposureItem{exposed("run", ExposesCommandExecution, ReachArbitrary, BasisProven)}, 75, RiskCritical},
		"said to be a shell": {[]ExposureItem{exposed("run", ExposesCommandExecution, ReachPartial, BasisDeclared)}, 15, RiskLow},
		"a fetcher": {[]ExposureItem{exposed("get", ExposesNetworkEgress, ReachArbitrary, BasisProven),
			exposed("get", ExposesUntrustedContent, ReachArbitrary, BasisProven)}, 63, RiskHigh},
		"one kind counts once": {[]ExposureItem{exposed("a", ExposesFileRead, ReachFixed, BasisProven), exposed("b", ExposesFileRead, ReachFixed, BasisProven)}, 4, RiskLow},
		"files of a directory": {[]ExposureItem{exposed("a", ExposesFileRead, ReachPartial, BasisProven), exposed("b", ExposesFileWrite, ReachPartial, BasisProven)}, 28, RiskMedium},
		"unknown":              {[]ExposureItem{exposed("a", "Teleport", ReachArbitrary, BasisProven)}, 1, RiskLow},
	} {
		if got := ExposureOf(tc.items); got.Score != tc.score || got.Level != tc.level {
			t.Errorf("%s: %d %s, want %d %s", name, got.Score, got.Level, tc.score, tc.level)
		}
	}
}

// One more thing never lowers the score, and the order makes no difference.
func TestExposureGrows(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var items []ExposureItem
	before := 0
	for range 200 {
		items = append(items, exposed("t", ExposureKinds[random.IntN(len(ExposureKinds))], Reaches[random.IntN(len(Reaches))],
			[]ExposureBasis{BasisProven, BasisDeclared}[random.IntN(2)]))
		random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		got := ExposureOf(items)
		if got.Score < before {
			t.Fatalf("%d after %d", got.Score, before)
		}
		before = got.Score
	}
}

func TestExposureKinds(t *testing.T) {
	e := ExposureOf([]ExposureItem{
		exposed("a", ExposesFileRead, ReachPartial, BasisProven), exposed("b", ExposesFileRead, ReachArbitrary, BasisProven),
		exposed("c", ExposesCommandExecution, ReachArbitrary, BasisDeclared), exposed("d", ExposesSecrets, ReachFixed, BasisProven),
	})
	want := []Exposed{{ExposesFileRead, ReachArbitrary}, {ExposesSecrets, ReachFixed}}
	if diff := cmp.Diff(want, e.Kinds()); diff != "" {
		t.Error(diff)
	}
}

// TestExposureKeepsKinds: what the caps leave out of the items is no kind that was seen.
func TestExposureKeepsKinds(t *testing.T) {
	var items []ExposureItem
	for i := range 300 {
		items = append(items, exposed(fmt.Sprint("shell", i), ExposesCommandExecution, ReachArbitrary, BasisProven))
	}
	for _, kind := range ExposureKinds {
		items = append(items, exposed("z", kind, ReachFixed, BasisProven), exposed("z", kind, ReachPartial, BasisDeclared))
	}
	e := ExposureOf(items)
	e.Items = e.Items[:shrinks["exposures"][shrinkSteps-1]]
	if got := len(e.Kinds()); got != len(ExposureKinds) {
		t.Errorf("%d kinds of %d", got, len(ExposureKinds))
	}
}

func TestReachAtLeast(t *testing.T) {
	for _, tc := range []struct {
		is, minimum Reach
		want        bool
	}{
		{ReachArbitrary, ReachArbitrary, true}, {ReachPartial, ReachArbitrary, false}, {ReachFixed, ReachFixed, true},
		{ReachPartial, ReachFixed, true}, {"Newer", ReachArbitrary, true},
	} {
		if got := tc.is.AtLeast(tc.minimum); got != tc.want {
			t.Errorf("%s at least %s: %t", tc.is, tc.minimum, got)
		}
	}
}

// TestUntriedGuards: an exposure says whether guards were tried at all, and all of them.
func TestUntriedGuards(t *testing.T) {
	tried := Launch{For: LaunchAttack, Seconds: 3}
	for name, tc := range map[string]struct {
		report Report
		want   string
	}{
		"tried":        {Report{Probe: ProbeRun{Runs: []Launch{{For: LaunchExercise}, tried}}}, ""},
		"switched off": {Report{Probe: ProbeRun{Runs: []Launch{{For: LaunchAttack, Skipped: "probe.attack is Off"}}}}, "probe.attack is Off"},
		"never begun":  {Report{Probe: ProbeRun{Runs: []Launch{{For: LaunchExercise}}}}, "the server was not started for that"},
		"cut short":    {Report{Probe: ProbeRun{Runs: []Launch{tried}}, Unobserved: []Gap{{What: GapUntriedGuards, Detail: "too slow (1)"}}}, "too slow (1)"},
	} {
		if got := tc.report.UntriedGuards(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
