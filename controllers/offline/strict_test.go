package offline

import (
	"testing"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// TestS16PassingListOfAStrictPolicy: a pass that was earned by less than the default
// exercise is in no passing list of a policy that denies it. What containers add to their
// images the lists do not know.
func TestS16PassingListOfAStrictPolicy(t *testing.T) {
	whole, little := verdict("a", 0), verdict("b", 0)
	whole.Exercise = &v1alpha1.AuditedExercise{Rounds: 3, MaxCallsPerTool: 24}
	little.Exercise = &v1alpha1.AuditedExercise{Rounds: 1, MaxCallsPerTool: 24}
	lenient := clusterPolicy(v1alpha1.OfflineRequirePassed, v1alpha1.AuditsAll)
	strict := lenient.DeepCopy()
	strict.Spec.Gate.OnAltered = v1alpha1.ActionDeny
	before := compiled(t, policyPassed, lenient, world(whole, little))
	after := compiled(t, policyPassed, strict, world(whole, little))
	expect(t, "the whole exercise, lenient", says(before, key("a")), "||pass|")
	expect(t, "less of it, lenient", says(before, key("b")), "||pass|")
	expect(t, "the whole exercise, strict", says(after, key("a")), "||pass|")
	expect(t, "less of it, strict", says(after, key("b")), "||none|")
}
