package gate_test

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/environ"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// TestS2EnvironmentBelongsToTheVerdict: what was audited with variables passes, and fails
// (S11), for containers with the same only.
func TestS2EnvironmentBelongsToTheVerdict(t *testing.T) {
	key, mode := []byte("key"), map[string]string{"MODE": "demo"}
	with := func(env map[string]string, dir string) func(*gate.Verdict) {
		return func(v *gate.Verdict) {
			v.Environment = &report.Environment{WorkingDir: dir}
			if env != nil {
				v.Environment.Names, v.Environment.Digest = []string{"MODE"}, environ.Digest(key, env)
			}
		}
	}
	same := gate.Environment{Variables: mode}
	for name, c := range map[string]struct {
		verdicts  []*gate.Verdict
		container gate.Environment
		want      v1alpha1.GateReason
	}{
		"a pass with variables, none in the container":   {[]*gate.Verdict{verdictOf("a", with(mode, ""))}, gate.Environment{}, v1alpha1.GateOtherEnvironment},
		"the same variables":                             {[]*gate.Verdict{verdictOf("a", with(mode, ""))}, same, v1alpha1.GatePassed},
		"another value":                                  {[]*gate.Verdict{verdictOf("a", with(mode, ""))}, gate.Environment{Variables: map[string]string{"MODE": "live"}}, v1alpha1.GateOtherEnvironment},
		"one more variable":                              {[]*gate.Verdict{verdictOf("a", with(mode, ""))}, gate.Environment{Variables: map[string]string{"MODE": "demo", "X": ""}}, v1alpha1.GateOtherEnvironment},
		"a value that is not known":                      {[]*gate.Verdict{verdictOf("a", with(mode, ""))}, gate.Environment{Variables: mode, Unclear: true}, v1alpha1.GateOtherEnvironment},
		"another working directory":                      {[]*gate.Verdict{verdictOf("a", with(mode, ""))}, gate.Environment{Variables: mode, WorkingDir: "/x"}, v1alpha1.GateOtherEnvironment},
		"a working directory only":                       {[]*gate.Verdict{verdictOf("a", with(nil, "/x"))}, gate.Environment{WorkingDir: "/x"}, v1alpha1.GatePassed},
		"a working directory that the container lacks":   {[]*gate.Verdict{verdictOf("a", with(nil, "/x"))}, gate.Environment{}, v1alpha1.GateOtherEnvironment},
		"names without a digest":                         {[]*gate.Verdict{verdictOf("a", func(v *gate.Verdict) { v.Environment = &report.Environment{Names: []string{"MODE"}} })}, same, v1alpha1.GateOtherEnvironment},
		"an audit that set nothing":                      {[]*gate.Verdict{verdictOf("a")}, same, v1alpha1.GatePassed},
		"S11: a failure with variables denies nobody":    {[]*gate.Verdict{verdictOf("a"), verdictOf("b", failed, with(mode, ""))}, gate.Environment{}, v1alpha1.GatePassed},
		"S11: a failure denies the same variables":       {[]*gate.Verdict{verdictOf("a"), verdictOf("b", failed, with(mode, ""))}, same, v1alpha1.GateFailed},
		"a failure without variables denies them, too":   {[]*gate.Verdict{verdictOf("a", with(mode, "")), verdictOf("b", failed)}, same, v1alpha1.GateFailed},
		"S11: a failure alone is no pass for the others": {[]*gate.Verdict{verdictOf("b", failed, with(mode, ""))}, gate.Environment{}, v1alpha1.GateOtherEnvironment},
	} {
		t.Run(name, func(t *testing.T) {
			container := runs(pinned)
			container.Environment = c.container
			facts := factsOf(policyOf(), c.verdicts...)
			facts.EnvironmentKey = key
			got := gate.Decide(containers(container), facts)
			if reason := got.Opinions[0].Reason; reason != c.want || got.Allowed != (c.want == v1alpha1.GatePassed) {
				t.Errorf("%s, allowed %t: %s", reason, got.Allowed, got.Message)
			}
			if facts.EnvironmentKey = nil; len(c.container.Variables) > 0 && c.verdicts[0].Environment != nil && len(c.verdicts) == 1 {
				if gate.Decide(containers(container), facts).Allowed {
					t.Error("admitted without the key")
				}
			}
		})
	}
}
