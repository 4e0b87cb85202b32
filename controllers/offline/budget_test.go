package offline

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// policyOfNamespace requires a Pass of any audit of the cluster, or of its namespace.
func policyOfNamespace(namespace, name string, trust v1alpha1.AuditNamespaces) *v1alpha1.MCPAuditPolicy {
	return &v1alpha1.MCPAuditPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.MCPAuditPolicySpec{
			Gate: v1alpha1.Gate{Offline: v1alpha1.OfflineRequirePassed}, Trust: &v1alpha1.Trust{AuditNamespaces: trust},
		},
	}
}

// TestS12NothingOutsideTheGate: a policy of a namespace without the label decides about
// nothing, and costs nothing.
func TestS12NothingOutsideTheGate(t *testing.T) {
	w := world(verdict("a", 1), verdict("b", 0))
	w.Facts.NamespaceLabels = func(namespace string) (labels.Set, bool) {
		if namespace == "in" {
			return labels.Set{v1alpha1.GateLabel: v1alpha1.GateEnabled}, true
		}
		return labels.Set{}, namespace != "unknown"
	}
	objects := Compile([]*v1alpha1.MCPAuditPolicy{
		policyOfNamespace("in", "p", v1alpha1.AuditsAll), policyOfNamespace("out", "p", v1alpha1.AuditsAll),
		policyOfNamespace("unknown", "p", v1alpha1.AuditsAll),
	}, nil, w)
	of := map[string]int{}
	for _, list := range objects.Lists {
		of[list.Labels[labelNamespace]]++
	}
	for _, binding := range objects.Bindings {
		of[binding.Labels[labelNamespace]]++
	}
	if of["in"] == 0 || of["out"] != 0 || of["unknown"] == 0 || len(objects.Problems) != 0 {
		t.Errorf("objects by namespace: %v; problems %v", of, objects.Problems)
	}
}

// TestS12BytesOfAllNamespaces: who administers many namespaces, and writes many policies
// that trust everybody, takes no more than the bound, nor the room of others.
func TestS12BytesOfAllNamespaces(t *testing.T) {
	var hoarded []*v1alpha1.MCPAuditPolicy
	for i := range 10 {
		for j := range 16 {
			hoarded = append(hoarded, policyOfNamespace(fmt.Sprint("hoarder-", i), fmt.Sprintf("p%02d", j), v1alpha1.AuditsAll))
		}
	}
	victims := []*v1alpha1.MCPAuditPolicy{policyOfNamespace("team", "same", v1alpha1.AuditsSame), policyOfNamespace("team-z", "all", v1alpha1.AuditsAll)}
	cluster := []*v1alpha1.ClusterMCPAuditPolicy{clusterPolicy(v1alpha1.OfflineRequirePassed, v1alpha1.AuditsAll)}
	w := world(verdict("a", 1), verdict("b", 0), verdict("c", 1, "/server"))
	one := bytesOf(Compile(victims[1:], nil, w).Lists)

	limit := 20 * one
	objects := compileWithin(limit, append(hoarded, victims...), cluster, w)
	bytes := 0
	for _, list := range objects.Lists {
		if list.Labels[labelNamespace] != "" {
			for key, value := range list.Data {
				bytes += len(key) + len(value)
			}
		}
	}
	if bytes > limit || bytes < limit/2 {
		t.Errorf("the lists have %d bytes, and may have %d", bytes, limit)
	}
	if len(objects.Problems) < 100 {
		t.Errorf("%d policies have a problem", len(objects.Problems))
	}
	for policy, problem := range objects.Problems {
		if policy.Namespace == "team" || policy.Namespace == "team-z" || policy.Namespace == "" {
			t.Errorf("%s of %q: %s", policy.Name, policy.Namespace, problem)
		}
	}
}
