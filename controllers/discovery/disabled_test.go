package discovery

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
)

// TestDisabledIsSaid: with discovery turned off a policy has Ready all the same, for
// whatever it asks.
func TestDisabledIsSaid(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		spec v1alpha1.ClusterMCPAuditPolicySpec
		want string
	}{
		"discovery":          {v1alpha1.ClusterMCPAuditPolicySpec{Discovery: &v1alpha1.Discovery{}}, v1alpha1.ReasonDiscoveryDisabled},
		"discovery and gate": {v1alpha1.ClusterMCPAuditPolicySpec{Discovery: &v1alpha1.Discovery{}, Gate: &v1alpha1.Gate{}}, v1alpha1.ReasonDiscoveryDisabled},
		"gate":               {v1alpha1.ClusterMCPAuditPolicySpec{Gate: &v1alpha1.Gate{}}, v1alpha1.ReasonGating},
		"neither":            {v1alpha1.ClusterMCPAuditPolicySpec{}, v1alpha1.ReasonNothingToDo},
	} {
		t.Run(name, func(t *testing.T) {
			policy := &v1alpha1.ClusterMCPAuditPolicy{ObjectMeta: metav1.ObjectMeta{Name: "policy", Generation: 2}, Spec: test.spec}
			policy.Status.Discovery = &v1alpha1.DiscoveryStatus{Discovered: 3}
			if test.spec.Gate != nil { // as controllers/drift does
				conditions.Report(policy, v1alpha1.ConditionGated, conditions.True(v1alpha1.ReasonGating, "In force."), epoch)
			}
			api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(policy).WithStatusSubresource(policy).Build()
			d := &Disabled{Client: api, Clock: clock.RealClock{}}
			key := client.ObjectKeyFromObject(policy)
			if _, err := d.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			if err := api.Get(t.Context(), key, policy); err != nil {
				t.Fatal(err)
			}
			ready := meta.FindStatusCondition(policy.Status.Conditions, v1alpha1.ConditionReady)
			if ready == nil || ready.Reason != test.want || policy.Status.ObservedGeneration != 2 || policy.Status.Discovery != nil {
				t.Errorf("status %+v, want Ready with %s", policy.Status, test.want)
			}
		})
	}
}
