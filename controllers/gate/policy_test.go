package gate_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

func TestPolicyIsAbout(t *testing.T) {
	labelled := func(key, value string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
	}
	for _, test := range []struct {
		name      string
		policy    *gate.Policy
		container gate.Container
		want      bool
	}{
		{"all by default", policyOf(), runs(tag), true},
		{"its labels", policyOf(matching(func(m *v1alpha1.Match) { m.ObjectSelector = labelled("app", "notes") })), runs(tag), true},
		{"the labels of its Pods", policyOf(matching(func(m *v1alpha1.Match) { m.ObjectSelector = labelled("tier", "tools") })), runs(tag), true},
		{"other labels", policyOf(matching(func(m *v1alpha1.Match) { m.ObjectSelector = labelled("app", "other") })), runs(tag), false},
		{"its container", policyOf(matching(func(m *v1alpha1.Match) { m.Containers = []string{"server"} })), runs(tag), true},
		{"another container", policyOf(matching(func(m *v1alpha1.Match) { m.Containers = []string{"proxy"} })), runs(tag), false},
		{"a server has any name", policyOf(matching(func(m *v1alpha1.Match) { m.Containers = []string{"proxy"} })), gate.Container{Name: "x", Role: gate.RoleServer, Image: tag}, true},
		{"its image", policyOf(matching(func(m *v1alpha1.Match) { m.Images = []string{"docker.io/**", "registry.example/*"} })), runs(tag), true},
		{"another image", policyOf(matching(func(m *v1alpha1.Match) { m.Images = []string{"docker.io/**"} })), runs(tag), false},
		{"its target", policyOf(gated(func(g *v1alpha1.Gate) { g.Targets = []v1alpha1.GateTarget{"Pods", "Workloads"} })), runs(tag), true},
		{"another target", policyOf(gated(func(g *v1alpha1.Gate) { g.Targets = []v1alpha1.GateTarget{"Pods"} })), runs(tag), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := len(gate.Decide(containers(test.container), factsOf(test.policy)).Opinions) == 1; got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
}

// A Pod has no template: a selector of what has not a label must not select it by that.
func TestAbsentTemplateSelectsNothing(t *testing.T) {
	policy := policyOf(matching(func(m *v1alpha1.Match) {
		m.ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "DoesNotExist"}}}
	}))
	pod := containers(runs(tag))
	pod.TemplateLabels = nil
	if d := gate.Decide(pod, factsOf(policy)); len(d.Opinions) != 0 {
		t.Error("selected")
	}
}

func TestSelects(t *testing.T) {
	cluster := func(selector *metav1.LabelSelector) *gate.Policy {
		return gate.ReadClusterPolicy(&v1alpha1.ClusterMCPAuditPolicy{Spec: v1alpha1.ClusterMCPAuditPolicySpec{
			Match: &v1alpha1.ClusterMatch{NamespaceSelector: selector}, Gate: &v1alpha1.Gate{}, Trust: &v1alpha1.Trust{AuditNamespaces: "All"},
		}})
	}
	audits := cluster(&metav1.LabelSelector{MatchLabels: map[string]string{"audits": "yes"}})
	for _, test := range []struct {
		name, namespace string
		policy          *gate.Policy
		want            bool
	}{
		{"its own", "team", policyOf(), true}, {"another", "other", policyOf(), false},
		{"all", "any", cluster(nil), true}, {"all, not known", "unknown", cluster(&metav1.LabelSelector{}), true},
		{"selected", "audits-1", audits, true}, {"not selected", "team", audits, false},
		{"not known: it could be selected", "unknown", audits, true},
	} {
		if got := test.policy.Selects(test.namespace, factsOf(test.policy)); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
	if gate.ReadClusterPolicy(&v1alpha1.ClusterMCPAuditPolicy{}) != nil {
		t.Error("a policy without a gate is one")
	}
}

func TestTrusts(t *testing.T) {
	selected := policyOf(trusting(v1alpha1.Trust{
		AuditNamespaces: "Selected", NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"audits": "yes"}},
	}))
	everything := policyOf(trusting(v1alpha1.Trust{AuditNamespaces: "Selected", NamespaceSelector: &metav1.LabelSelector{}}))
	all := policyOf(trusting(v1alpha1.Trust{AuditNamespaces: "All"}))
	for _, test := range []struct {
		name, namespace string
		policy          *gate.Policy
		want            bool
	}{
		{"the same", "team", policyOf(), true}, {"another", "other", policyOf(), false},
		{"any", "other", all, true},
		{"selected", "audits-1", selected, true}, {"its own is not selected", "team", selected, false},
		{"not known", "unknown", everything, false},
	} {
		if got := test.policy.Trusts(verdictOf("a", by(test.namespace)), "team", factsOf(test.policy)); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
	if selected.Trusts(verdictOf("a", by("audits-1")), "team", gate.Facts{}) {
		t.Error("a namespace is trusted that nothing is known of")
	}
}

// What cannot be read denies as far as the mode goes, and says where it stands.
func TestInvalid(t *testing.T) {
	bad := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}
	for field, change := range map[string]func(*v1alpha1.MCPAuditPolicySpec){
		"spec.match.objectSelector":    matching(func(m *v1alpha1.Match) { m.ObjectSelector = bad }),
		"spec.match.images":            matching(func(m *v1alpha1.Match) { m.Images = []string{"docker.io/other", "notes"} }),
		"spec.trust.namespaceSelector": trusting(v1alpha1.Trust{AuditNamespaces: "Selected", NamespaceSelector: bad}),
		"spec.trust.auditNamespaces":   trusting(v1alpha1.Trust{AuditNamespaces: "Some"}),
		"spec.gate.mode":               gated(func(g *v1alpha1.Gate) { g.Mode = "Later" }),
		"spec.gate.failOn":             gated(func(g *v1alpha1.Gate) { g.FailOn = "Apocalyptic" }),
		"spec.gate.onMissing":          gated(func(g *v1alpha1.Gate) { g.OnMissing = "Ask" }),
		"spec.gate.onOtherCommand":     gated(func(g *v1alpha1.Gate) { g.OnOtherCommand = "LastVerdict" }),
		"spec.gate.onInconclusive":     gated(func(g *v1alpha1.Gate) { g.OnInconclusive = "Ask" }),
		"spec.gate.onDrift":            gated(func(g *v1alpha1.Gate) { g.OnDrift = "Ask" }),
		"spec.gate.onStale":            gated(func(g *v1alpha1.Gate) { g.OnStale = "Ask" }),
		"spec.gate.offline":            gated(func(g *v1alpha1.Gate) { g.Offline = "Ask" }),
		"spec.gate.targets":            gated(func(g *v1alpha1.Gate) { g.Targets = []v1alpha1.GateTarget{"Nodes"} }),
		"spec.gate.maxAge":             gated(func(g *v1alpha1.Gate) { g.MaxAge = &metav1.Duration{Duration: -time.Hour} }),
	} {
		policy := policyOf(change)
		d := gate.Decide(containers(runs(tag)), factsOf(policy, verdictOf("a")))
		if !strings.HasPrefix(policy.Invalid, field+": ") || d.Allowed || !strings.Contains(d.Message, policy.Invalid) {
			t.Errorf("%s: invalid %q, allowed %t, message %q", field, policy.Invalid, d.Allowed, d.Message)
		}
		policy.Gate.Mode = v1alpha1.GateWarn
		if d := gate.Decide(containers(runs(tag)), factsOf(policy, verdictOf("a"))); !d.Allowed || len(d.Warnings) != 1 {
			t.Errorf("%s: in mode Warn allowed %t, warnings %q", field, d.Allowed, d.Warnings)
		}
	}
	if p := policyOf(); p.Invalid != "" || p.Gate.Mode != "Enforce" || p.Gate.FailOn != "High" || p.Gate.OnStale != deny {
		t.Errorf("the defaults are %+v, %q", p.Gate, p.Invalid)
	}
}
