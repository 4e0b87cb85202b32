package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

// newLarge is an audit of a tenant who uses every field.
func newLarge() *v1alpha1.MCPServerAudit {
	audit := &v1alpha1.MCPServerAudit{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "large", Annotations: map[string]string{
			corev1.LastAppliedConfigAnnotation: strings.Repeat("x", 100_000), "example.com/note": strings.Repeat("x", 50_000),
			"mcpaudit.dev/note": strings.Repeat("x", 50_000), v1alpha1.RequestedAtAnnotation: "now",
		}},
		Spec: v1alpha1.MCPServerAuditSpec{
			Suspend: true, FailOn: "High", DeclaredScope: &report.DeclaredScope{},
			Suppressions: []report.Suppression{{Reason: strings.Repeat("x", 200)}, {}},
			Server:       v1alpha1.Server{Image: "registry.example/a:1", Command: []string{strings.Repeat("x", 1000)}},
			Probe:        v1alpha1.Probe{Inputs: []v1alpha1.ToolInput{{Tool: "a", Arguments: runtime.RawExtension{Raw: fmt.Appendf(nil, `{"a":%q}`, strings.Repeat("x", 30_000))}}}},
			Sandbox:      v1alpha1.Sandbox{PodTemplate: &v1alpha1.PodTemplate{Metadata: v1alpha1.PodTemplateMetadata{Labels: map[string]string{"a": "b"}}}},
		},
	}
	for i := range 1000 {
		audit.Annotations[fmt.Sprint("mcpaudit.dev/", i)] = "x"
	}
	return audit
}

// TestS5CacheKeepsLittle: of a large audit the cache has what decisions about others need,
// and the digest of the whole.
func TestS5CacheKeepsLittle(t *testing.T) {
	audit := newLarge()
	want, err := trigger.SpecDigest(audit.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stripAudit(audit); err != nil {
		t.Fatal(err)
	}
	if encoded, err := json.Marshal(audit); err != nil || len(encoded) > 4<<10 {
		t.Errorf("%d bytes are kept, %v", len(encoded), err)
	}
	if got, err := trigger.DigestOf(audit); err != nil || got != want {
		t.Errorf("DigestOf = %s, %v, want %s", got, err, want)
	}
	if trigger.Requested(audit.Annotations) != "now" {
		t.Error("the request is lost")
	}
	if !audit.Spec.Suspend || audit.Spec.Server.Image == "" || len(audit.Spec.Suppressions) != 1 {
		t.Errorf("what others read is lost: %+v", audit.Spec)
	}
}

// TestS5CacheKeepsSmallAudits: nearly all are as they were.
func TestS5CacheKeepsSmallAudits(t *testing.T) {
	audit := &v1alpha1.MCPServerAudit{Spec: v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "a", Env: []v1alpha1.EnvVar{{Name: "A", Value: "b"}}}}}
	audit.Annotations = map[string]string{"example.com/team": "a"}
	want := audit.DeepCopy()
	if _, err := stripAudit(audit); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, audit); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestS5NobodySetsTrimmedSpec: it is not part of what the API server stores.
func TestS5NobodySetsTrimmedSpec(t *testing.T) {
	var audit v1alpha1.MCPServerAudit
	for _, name := range []string{"TrimmedSpec", "trimmedSpec", "-"} {
		if err := json.Unmarshal(fmt.Appendf(nil, `{%q: "sha256:0"}`, name), &audit); err != nil || audit.TrimmedSpec != "" {
			t.Errorf("%s: %q, %v", name, audit.TrimmedSpec, err)
		}
	}
}
