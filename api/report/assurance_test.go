package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// exercisedTools is a report of a server of which some tools accepted a call.
func exercisedTools(accepted, listed int, change ...func(*Report)) Report {
	r := Report{ManifestDigest: "sha256:1", Coverage: Coverage{Tools: Exercised{Listed: listed, Called: listed, Accepted: accepted}}}
	for i := range listed {
		row := CapabilityCoverage{Kind: CapabilityTool, Name: fmt.Sprintf("tool_%d", i), Calls: Share{Total: 2}}
		if i < accepted {
			row.Calls.Done = 1
		}
		r.Exercise = append(r.Exercise, row)
	}
	for _, c := range change {
		c(&r)
	}
	return r
}

func TestAssuranceOf(t *testing.T) {
	refused := "13 of 23 tools never accepted a call: tool_10, tool_11, tool_12, tool_13, tool_14 and 8 more"
	branches := func(r *Report) { r.Coverage.Branches = Share{Total: 60, Done: 34} }
	for name, c := range map[string]struct {
		report  Report
		level   AssuranceLevel
		tools   string
		because []string
	}{
		"everything": {exercisedTools(3, 3), AssuranceFull, "3/3", nil},
		"half":       {exercisedTools(1, 2), AssurancePartial, "1/2", []string{"1 of 2 tools never accepted a call: tool_1"}},
		"less":       {exercisedTools(10, 23), AssuranceWeak, "10/23", []string{refused}},
		"branches":   {exercisedTools(3, 3, branches), AssurancePartial, "3/3", []string{"26 of 60 branches of the tools' input schemas were not taken"}},
		"a gap": {exercisedTools(3, 3, func(r *Report) {
			r.Unobserved = []Gap{{What: "OpaqueTLS", Detail: "TLS connections that could not be ended (1)"}, {What: "B"}, {What: "C"}}
		}), AssurancePartial, "3/3", []string{"not observed: TLS connections that could not be ended (1)", "not observed: B", "1 gap more, see unobserved"}},
		"cut short": {exercisedTools(3, 3, func(r *Report) { r.Incomplete = &Incomplete{ReasonTimeout, "no answer"} }), AssurancePartial, "3/3",
			[]string{"the audit could not observe everything (Timeout): no answer"}},
		"rows that were cut off": {exercisedTools(1, 2, func(r *Report) { r.Exercise = nil }), AssurancePartial, "1/2", []string{"1 of 2 tools never accepted a call"}},
		"no tools": {Report{ManifestDigest: "sha256:1", Coverage: Coverage{
			Prompts: Exercised{Listed: 1, Called: 1, Accepted: 1}, Resources: Exercised{Listed: 3, Called: 3}}},
			AssuranceWeak, "0/0", []string{"3 of 3 resources never accepted a call"}},
		"only prompts": {Report{ManifestDigest: "sha256:1", Coverage: Coverage{Prompts: Exercised{Listed: 2, Called: 2, Accepted: 2}}}, AssuranceFull, "0/0", nil},
		"nothing":      {Report{ManifestDigest: "sha256:1"}, AssuranceFull, "0/0", []string{"the server advertises nothing to exercise"}},
		"a list without an answer": {exercisedTools(3, 3, func(r *Report) { r.ManifestDigest = "" }), AssuranceWeak, "3/3",
			[]string{"not everything that the server advertises could be listed"}},
		"not listed": {Report{}, AssuranceWeak, "", []string{"what the server advertises could not be listed"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := Assurance{Level: c.level, Tools: c.tools, Because: c.because}
			if diff := cmp.Diff(want, AssuranceOf(c.report)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLevels: a level that is missing, or of the future, is enough for nobody.
func TestLevels(t *testing.T) {
	for _, c := range []struct {
		is, minimum AssuranceLevel
		enough      bool
	}{
		{AssuranceFull, AssurancePartial, true}, {AssurancePartial, AssurancePartial, true}, {AssuranceWeak, AssurancePartial, false},
		{AssuranceWeak, AssuranceWeak, true}, {"", AssuranceWeak, false}, {"Splendid", AssuranceWeak, false}, {AssuranceFull, "Splendid", false},
	} {
		if got := c.is.AtLeast(c.minimum); got != c.enough {
			t.Errorf("%q is at least %q: %v", c.is, c.minimum, got)
		}
	}
}

// TestBecauseIsBounded: names of tools are the server's, and may be long.
func TestBecauseIsBounded(t *testing.T) {
	r := exercisedTools(0, 600, func(r *Report) {
		for i := range r.Exercise {
			r.Exercise[i].Name = strings.Repeat("n", 256)
		}
	})
	r.Assurance = AssuranceOf(r)
	unmet := Demand{}.Unmet(Incomplete{}, r.Assurance)
	r.Cap()
	if got := r.Assurance.Because; len(got) != 1 || len(got[0]) > 512 || len(unmet.Message) > MaxMessageBytes {
		t.Errorf("%d sentences, a message of %d bytes", len(got), len(unmet.Message))
	}
}
