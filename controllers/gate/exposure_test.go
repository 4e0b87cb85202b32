package gate_test

import (
	"strings"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

func limited(limit v1alpha1.ExposureLimit) func(*v1alpha1.MCPAuditPolicySpec) {
	return func(s *v1alpha1.MCPAuditPolicySpec) { s.Exposure = &limit }
}

// enables gives a verdict an exposure, by the default exercise.
func enables(score int, kinds ...report.Exposed) func(*gate.Verdict) {
	return func(v *gate.Verdict) {
		traced(v)
		v.Exposure = &v1alpha1.ExposureSummary{Score: int32(score), Level: report.RiskLevelOf(score), Kinds: kinds}
	}
}

// TestExposure: what the policy says of exposure is decided by what the audit saw, and not by an
// audit that saw less.
func TestExposure(t *testing.T) {
	kind := func(kind report.ExposureKind, reach report.Reach) report.Exposed {
		return report.Exposed{Kind: kind, Reach: reach}
	}
	shell, program := kind("CommandExecution", "Arbitrary"), kind("CommandExecution", "Bounded")
	noShell := v1alpha1.ExposureLimit{Deny: []v1alpha1.DeniedExposure{{Kind: "CommandExecution", Reach: "Arbitrary"}}}
	noProgram := v1alpha1.ExposureLimit{Deny: []v1alpha1.DeniedExposure{{Kind: "CommandExecution"}}}
	high := v1alpha1.ExposureLimit{MaxLevel: "High"}
	allowing := gated(func(g *v1alpha1.Gate) { g.OnInconclusive = "Allow" })
	byLast := gated(func(g *v1alpha1.Gate) { g.OnInconclusive = v1alpha1.ActionLastVerdict })
	for name, test := range map[string]struct {
		policy   *gate.Policy
		verdicts []*gate.Verdict
		reason   v1alpha1.GateReason
	}{
		"nobody asks":                           {policyOf(), []*gate.Verdict{verdictOf("a", enables(90, shell))}, "Passed"},
		"the level is too high":                 {policyOf(limited(high)), []*gate.Verdict{verdictOf("a", enables(75, shell))}, "Exposed"},
		"the level is admitted":                 {policyOf(limited(high)), []*gate.Verdict{verdictOf("a", enables(69, shell))}, "Passed"},
		"a level of the future":                 {policyOf(limited(high)), []*gate.Verdict{verdictOf("a", enables(1), func(v *gate.Verdict) { v.Exposure.Level = "Splendid" })}, "Exposed"},
		"the kind is denied":                    {policyOf(limited(noShell)), []*gate.Verdict{verdictOf("a", enables(75, kind("FileRead", "Arbitrary"), shell))}, "Exposed"},
		"the kind does not reach as far":        {policyOf(limited(noShell)), []*gate.Verdict{verdictOf("a", enables(15, program))}, "Passed"},
		"the kind is denied, however far":       {policyOf(limited(noProgram)), []*gate.Verdict{verdictOf("a", enables(15, program))}, "Exposed"},
		"a reach of the future":                 {policyOf(limited(noShell)), []*gate.Verdict{verdictOf("a", enables(15, kind("CommandExecution", "Total")))}, "Exposed"},
		"another kind":                          {policyOf(limited(noShell)), []*gate.Verdict{verdictOf("a", enables(38, kind("FileRead", "Arbitrary")))}, "Passed"},
		"no exposure is recorded":               {policyOf(limited(noShell)), []*gate.Verdict{verdictOf("a")}, "ExposureUnknown"},
		"one audit records it":                  {policyOf(limited(noShell)), []*gate.Verdict{verdictOf("a"), verdictOf("b", enables(0))}, "Passed"},
		"what one audit saw counts":             {policyOf(limited(noShell)), []*gate.Verdict{verdictOf("a", enables(75, shell)), verdictOf("b", enables(0))}, "Exposed"},
		"failed as well":                        {policyOf(limited(noShell)), []*gate.Verdict{verdictOf("a", enables(75, shell), failed)}, "Failed"},
		"inconclusive, and too much":            {policyOf(limited(noShell), allowing), []*gate.Verdict{verdictOf("a", enables(75, shell), incomplete)}, "Exposed"},
		"the history keeps no exposure":         {policyOf(limited(noShell), byLast), []*gate.Verdict{verdictOf("a", enables(0), lastPassed)}, "Inconclusive"},
		"the policy has a kind of the future":   {policyOf(limited(v1alpha1.ExposureLimit{Deny: []v1alpha1.DeniedExposure{{Kind: "Magic"}}})), []*gate.Verdict{verdictOf("a", enables(0))}, "NotAudited"},
		"the policy has a level of the future":  {policyOf(limited(v1alpha1.ExposureLimit{MaxLevel: "Splendid"})), []*gate.Verdict{verdictOf("a", enables(0))}, "NotAudited"},
		"another command of an image that does": {policyOf(limited(noShell), gated(func(g *v1alpha1.Gate) { g.OnOtherCommand = allow })), []*gate.Verdict{verdictOf("a", enables(75, shell))}, "Exposed"},
	} {
		container := runs(pinned)
		if strings.HasPrefix(name, "another command") {
			container = runs(pinned, "sh")
		}
		got := gate.Decide(containers(container), factsOf(test.policy, test.verdicts...))
		if o := got.Opinions[0]; o.Reason != test.reason || got.Allowed != (test.reason == "Passed") {
			t.Errorf("%s: %s, allowed %t, want %s", name, o.Reason, got.Allowed, test.reason)
		}
	}
	excepted := factsOf(policyOf(limited(noShell)), verdictOf("a", enables(75, shell)))
	exception, err := gate.ReadException(exceptionOf())
	if err != nil {
		t.Fatal(err)
	}
	excepted.Exceptions = []*gate.Exception{exception}
	if got := gate.Decide(containers(runs(pinned)), excepted); !got.Allowed || got.Opinions[0].Reason != v1alpha1.GateExcepted {
		t.Errorf("an exception does not admit it: %+v", got)
	}
}

// TestR15ExposureOfLess: what an audit saw bounds a server only if it was exercised by default, and its
// guards were tried. Whoever writes the audit decides that.
func TestR15ExposureOfLess(t *testing.T) {
	program := report.Exposed{Kind: "CommandExecution", Reach: "Partial"}
	noShell := policyOf(limited(v1alpha1.ExposureLimit{Deny: []v1alpha1.DeniedExposure{{Kind: "CommandExecution", Reach: "Arbitrary"}}}))
	noProgram := policyOf(limited(v1alpha1.ExposureLimit{Deny: []v1alpha1.DeniedExposure{{Kind: "CommandExecution"}}}))
	whole := verdictOf("whole", enables(30, program))
	for name, less := range map[string]func(*gate.Verdict){
		"no attack":           func(v *gate.Verdict) { v.Exercise.Attack = plan.AttackOff },
		"no time for it":      func(v *gate.Verdict) { v.Exposure.UntriedGuards = "context deadline exceeded" },
		"a tool left out":     func(v *gate.Verdict) { v.Exercise.SkippedTools = 1 },
		"an earlier operator": func(v *gate.Verdict) { v.Exercise = nil },
	} {
		little := verdictOf("little", enables(30, program), less)
		for _, c := range []struct {
			policy   *gate.Policy
			verdicts []*gate.Verdict
			want     v1alpha1.GateReason
		}{
			{noShell, []*gate.Verdict{little}, v1alpha1.GateExposureUnknown},
			{noShell, []*gate.Verdict{little, whole}, v1alpha1.GatePassed},
			{noProgram, []*gate.Verdict{little}, v1alpha1.GateExposed},
			{policyOf(), []*gate.Verdict{little}, v1alpha1.GatePassed},
		} {
			got := gate.Decide(containers(runs(pinned)), factsOf(c.policy, c.verdicts...))
			if o := got.Opinions[0]; o.Reason != c.want || got.Allowed != (c.want == v1alpha1.GatePassed) {
				t.Errorf("%s: %s of %d verdicts, want %s: %s", name, o.Reason, len(c.verdicts), c.want, got.Message)
			}
		}
	}
}
