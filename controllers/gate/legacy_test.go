package gate_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/gate"
)

// TestS2UnrecordedEnvironment: a status from before environments were recorded counts for
// no container, if its audit sets any.
func TestS2UnrecordedEnvironment(t *testing.T) {
	at := metav1.NewTime(now)
	audit := &v1alpha1.MCPServerAudit{}
	audit.Spec.Server.Env = []v1alpha1.EnvVar{{Name: "A", Value: "1"}}
	audit.Status.LastAuditTime, audit.Status.Audited = &at, &v1alpha1.AuditedServer{Image: tag, Digests: []v1alpha1.Digest{platform}}
	audit.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionAudited, Status: metav1.ConditionTrue}}
	if v := gate.ReadVerdict(audit); v == nil || v.Environment == nil || v.Environment.Digest != "" {
		t.Errorf("environment set and not recorded: %+v", v)
	}
	audit.Spec.Server.Env = nil
	if v := gate.ReadVerdict(audit); v == nil || v.Environment != nil {
		t.Errorf("no environment: %+v", v)
	}
}
