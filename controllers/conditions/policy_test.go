package conditions_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func kstatus(t *testing.T, policy *v1alpha1.ClusterMCPAuditPolicy) status.Status {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(policy)
	if err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: content})
	if err != nil {
		t.Fatal(err)
	}
	return result.Status
}

// TestReport: whatever the order in which the two controllers come, Ready is the same,
// and the spec counts as observed once both have.
func TestReport(t *testing.T) {
	gate, discovery := &v1alpha1.Gate{}, &v1alpha1.Discovery{}
	for _, test := range []struct {
		name       string
		spec       v1alpha1.ClusterMCPAuditPolicySpec
		gated      conditions.Condition
		discovered conditions.Condition
		want       string
		kstatus    status.Status
	}{
		{"both are well", v1alpha1.ClusterMCPAuditPolicySpec{Gate: gate, Discovery: discovery},
			conditions.True("Gating", "Gates."), conditions.True("Discovered", "Found."), "True Gating: Gates. Found.", status.CurrentStatus},
		{"the gate's spec is invalid", v1alpha1.ClusterMCPAuditPolicySpec{Gate: gate, Discovery: discovery},
			conditions.False("InvalidSpec", "No."), conditions.Unknown("AuditsPending", "Later."), "False InvalidSpec: No.", status.FailedStatus},
		{"the discovery's is", v1alpha1.ClusterMCPAuditPolicySpec{Gate: gate, Discovery: discovery},
			conditions.True("Gating", "Gates."), conditions.False("InvalidSpec", "No."), "False InvalidSpec: No.", status.FailedStatus},
		{"discovery goes on", v1alpha1.ClusterMCPAuditPolicySpec{Gate: gate, Discovery: discovery},
			conditions.True("Gating", "Gates."), conditions.Unknown("SourcesPending", "Later."), "Unknown SourcesPending: Later.", status.InProgressStatus},
		{"a gate only", v1alpha1.ClusterMCPAuditPolicySpec{Gate: gate},
			conditions.True("Gating", "Gates."), conditions.True("NothingToDo", ""), "True Gating: Gates.", status.CurrentStatus},
		{"discovery only", v1alpha1.ClusterMCPAuditPolicySpec{Discovery: discovery},
			conditions.True("NothingToDo", ""), conditions.True("Discovered", "Found."), "True Discovered: Found.", status.CurrentStatus},
		{"neither", v1alpha1.ClusterMCPAuditPolicySpec{}, conditions.True("NothingToDo", ""), conditions.True("NothingToDo", ""),
			"True NothingToDo: There is neither spec.discovery nor spec.gate: nothing is looked for, and nothing denied.", status.CurrentStatus},
	} {
		for _, gateFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, gate first %t", test.name, gateFirst), func(t *testing.T) {
				policy := &v1alpha1.ClusterMCPAuditPolicy{Spec: test.spec}
				policy.Name, policy.Generation, policy.Status.ObservedGeneration = "p", 2, 1
				// What is left of another spec, which had both.
				conditions.SetOf(&policy.Status.Conditions, 1, v1alpha1.ConditionGated, conditions.False("Old", ""), noon)
				conditions.SetOf(&policy.Status.Conditions, 1, v1alpha1.ConditionDiscovered, conditions.False("Old", ""), noon)
				conditions.SetReady(&policy.Status.Conditions, 1, conditions.False("Old", ""), noon)
				report := func(gate bool) {
					if gate {
						conditions.Report(policy, v1alpha1.ConditionGated, test.gated, noon)
					} else {
						conditions.Report(policy, v1alpha1.ConditionDiscovered, test.discovered, noon)
					}
				}
				report(gateFirst)
				if test.spec.Gate != nil && test.spec.Discovery != nil && kstatus(t, policy) != status.InProgressStatus {
					t.Error("the spec counts as observed with one of two parts")
				}
				report(!gateFirst)
				ready := meta.FindStatusCondition(policy.Status.Conditions, v1alpha1.ConditionReady)
				if got := fmt.Sprintf("%s %s: %s", ready.Status, ready.Reason, ready.Message); got != test.want || kstatus(t, policy) != test.kstatus {
					t.Errorf("Ready is %q and kstatus %s, want %q and %s", got, kstatus(t, policy), test.want, test.kstatus)
				}
				for kind, wanted := range map[string]bool{v1alpha1.ConditionGated: test.spec.Gate != nil, v1alpha1.ConditionDiscovered: test.spec.Discovery != nil} {
					if have := meta.FindStatusCondition(policy.Status.Conditions, kind) != nil; have != wanted {
						t.Errorf("there is a condition %s: %t", kind, have)
					}
				}
				before := policy.DeepCopy()
				report(gateFirst)
				report(!gateFirst)
				if !equality.Semantic.DeepEqual(before, policy) {
					t.Error("a report of nothing new changes the status")
				}
			})
		}
	}
}
