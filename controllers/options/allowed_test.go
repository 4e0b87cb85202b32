package options_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/options"
)

// spec returns a spec as the API server has defaulted it, changed.
func spec(change func(*v1alpha1.MCPServerAuditSpec)) v1alpha1.MCPServerAuditSpec {
	s := v1alpha1.MCPServerAuditSpec{
		Server:  v1alpha1.Server{Image: "registry.example/notes:v1"},
		Sandbox: v1alpha1.Sandbox{Network: report.NetworkSinkhole},
		Timeout: metav1.Duration{Duration: 5 * time.Minute},
	}
	change(&s)
	return s
}

func placed(template v1alpha1.PodTemplateSpec) v1alpha1.MCPServerAuditSpec {
	return spec(func(s *v1alpha1.MCPServerAuditSpec) { s.Sandbox.PodTemplate = &v1alpha1.PodTemplate{Spec: template} })
}

// TestS8ClosedByDefault: every privilege is refused by the default configuration and
// permitted by the one key that the message names.
func TestS8ClosedByDefault(t *testing.T) {
	audit := func(r *options.Allowed) { r.Placement = options.PlacementAudit }
	for name, test := range map[string]struct {
		spec  v1alpha1.MCPServerAuditSpec
		want  string
		allow func(*options.Allowed)
	}{
		"network": {
			spec(func(s *v1alpha1.MCPServerAuditSpec) { s.Sandbox.Network = report.NetworkAllow }),
			"spec.sandbox.network: Allow is not allowed by allowed.networks of the operator's configuration",
			func(r *options.Allowed) { r.Networks = append(r.Networks, report.NetworkAllow) },
		},
		"url": {
			spec(func(s *v1alpha1.MCPServerAuditSpec) { s.Server = v1alpha1.Server{URL: "https://mcp.example.com/mcp"} }),
			`spec.server.url: "https://mcp.example.com/mcp" is not allowed by allowed.urls`,
			func(r *options.Allowed) { r.URLs = true },
		},
		"timeout": {
			spec(func(s *v1alpha1.MCPServerAuditSpec) { s.Timeout.Duration = time.Hour }),
			"spec.timeout: 1h0m0s is not allowed by allowed.maxTimeout (15m0s)",
			func(r *options.Allowed) { r.MaxTimeout = time.Hour },
		},
		"runtime class": {
			spec(func(s *v1alpha1.MCPServerAuditSpec) { s.Sandbox.RuntimeClassName = "runc" }),
			`spec.sandbox.runtimeClassName: "runc" is not allowed by allowed.runtimeClassNames`,
			func(r *options.Allowed) { r.RuntimeClassNames = []string{"runc"} },
		},
		"priority": {
			placed(v1alpha1.PodTemplateSpec{PriorityClassName: "system-node-critical"}),
			`priorityClassName: "system-node-critical" is not allowed by allowed.priorityClassNames`,
			func(r *options.Allowed) { r.PriorityClassNames = []string{"system-node-critical"} },
		},
		"node selector": {
			placed(v1alpha1.PodTemplateSpec{NodeSelector: map[string]string{"kubernetes.io/hostname": "a"}}),
			"spec.sandbox.podTemplate.spec: nodeSelector is not allowed by allowed.placement (Operator)", audit,
		},
		"tolerations": {placed(v1alpha1.PodTemplateSpec{Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}}), "tolerations is not", audit},
		"affinity":    {placed(v1alpha1.PodTemplateSpec{Affinity: &corev1.Affinity{}}), "affinity is not", audit},
		"spread": {placed(v1alpha1.PodTemplateSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{TopologyKey: "a"}}}),
			"topologySpreadConstraints is not", audit},
		"scheduler": {placed(v1alpha1.PodTemplateSpec{SchedulerName: "nobody"}), "schedulerName is not", audit},
	} {
		t.Run(name, func(t *testing.T) {
			rules := options.Default().Allowed
			if err := rules.Check(test.spec, "gvisor"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Check = %v, want %q", err, test.want)
			}
			test.allow(&rules)
			if err := rules.Check(test.spec, "gvisor"); err != nil {
				t.Errorf("with the key set: %v", err)
			}
		})
	}
}

// TestDefaultsPass: an audit that asks for nothing special is permitted.
func TestDefaultsPass(t *testing.T) {
	for name, s := range map[string]v1alpha1.MCPServerAuditSpec{
		"as defaulted":         spec(func(*v1alpha1.MCPServerAuditSpec) {}),
		"stored before 1.0":    {Server: v1alpha1.Server{Image: "a"}},
		"deny":                 spec(func(s *v1alpha1.MCPServerAuditSpec) { s.Sandbox.Network = report.NetworkDeny }),
		"the operator's class": spec(func(s *v1alpha1.MCPServerAuditSpec) { s.Sandbox.RuntimeClassName = "gvisor" }),
		"metadata": spec(func(s *v1alpha1.MCPServerAuditSpec) {
			s.Sandbox.PodTemplate = &v1alpha1.PodTemplate{Metadata: v1alpha1.PodTemplateMetadata{Labels: map[string]string{"team": "a"}}}
		}),
	} {
		if err := options.Default().Allowed.Check(s, "gvisor"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckTellsAll: who corrects a spec does so once.
func TestCheckTellsAll(t *testing.T) {
	err := options.Default().Allowed.Check(spec(func(s *v1alpha1.MCPServerAuditSpec) {
		s.Sandbox.Network, s.Timeout.Duration = report.NetworkAllow, time.Hour
	}), "")
	if err == nil || !strings.Contains(err.Error(), "allowed.networks") || !strings.Contains(err.Error(), "allowed.maxTimeout") {
		t.Errorf("Check = %v", err)
	}
}

func TestL8ImageSize(t *testing.T) {
	rules := options.Default().Allowed
	if err := rules.CheckImage("a", 10<<30); err != nil {
		t.Error(err)
	}
	const want = `spec.server.image: the layers of "a" have 20Gi, more than allowed.maxImageSize (10Gi) of the operator's configuration`
	if err := rules.CheckImage("a", 20<<30); err == nil || err.Error() != want {
		t.Errorf("CheckImage = %v, want %s", err, want)
	}
	rules.MaxImageBytes = options.NoLimit
	if err := rules.CheckImage("a", options.NoLimit); err != nil {
		t.Error(err)
	}
}
