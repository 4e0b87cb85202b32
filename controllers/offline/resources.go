package offline

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/options"
)

// namespaces selects the policy's namespaces in the gate.
func (r *rule) namespaces() *metav1.LabelSelector {
	selector := &metav1.LabelSelector{}
	if r.match.NamespaceSelector != nil {
		selector = r.match.NamespaceSelector.DeepCopy()
	}
	selector.MatchExpressions = append(selector.MatchExpressions,
		metav1.LabelSelectorRequirement{Key: v1alpha1.GateLabel, Operator: metav1.LabelSelectorOpIn, Values: []string{v1alpha1.GateEnabled}},
		metav1.LabelSelectorRequirement{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: options.UngatedNamespaces()})
	if r.namespace != "" {
		selector.MatchExpressions = append(selector.MatchExpressions,
			metav1.LabelSelectorRequirement{Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: []string{r.namespace}})
	}
	return selector
}

// resources returns the resources of targets; nil for all that the static policy covers.
func resources(targets []v1alpha1.GateTarget) []admissionv1.NamedRuleWithOperations {
	var rules []admissionv1.NamedRuleWithOperations
	add := func(groups, versions []string, resources ...string) {
		rules = append(rules, admissionv1.NamedRuleWithOperations{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
			Rule:       admissionv1.Rule{APIGroups: groups, APIVersions: versions, Resources: resources, Scope: new(admissionv1.AllScopes)},
		}})
	}
	for _, target := range slices.Sorted(slices.Values(targets)) {
		switch target {
		case v1alpha1.TargetPods:
			add([]string{""}, []string{"v1"}, "pods", "pods/ephemeralcontainers")
		case v1alpha1.TargetWorkloads:
			add([]string{""}, []string{"v1"}, "replicationcontrollers")
			add([]string{"apps"}, []string{"v1"}, "deployments", "replicasets", "statefulsets", "daemonsets")
			add([]string{"batch"}, []string{"v1"}, "jobs", "cronjobs")
		case v1alpha1.TargetMCPServers:
			add([]string{"toolhive.stacklok.dev", "kagent.dev", "mcp.x-k8s.io"}, []string{"*"}, "mcpservers")
		}
	}
	return rules
}
