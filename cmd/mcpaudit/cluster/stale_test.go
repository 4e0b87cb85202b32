package cluster_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

// TestStalePass: the Pass of a spec that has changed since, or that Ready does not hold
// to, is none in the forms that pipelines read; as data it stays what was stored.
func TestStalePass(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1alpha1.MCPServerAudit)
		passes bool
	}{
		"as it was":     {func(*v1alpha1.MCPServerAudit) {}, true},
		"spec changed":  {func(a *v1alpha1.MCPServerAudit) { a.Generation = 2 }, false},
		"not Ready now": {func(a *v1alpha1.MCPServerAudit) { a.Status.Conditions[0].Status = metav1.ConditionFalse }, false},
	} {
		s := newServer(t, anAudit("notes", passed, func(a *v1alpha1.MCPServerAudit) {
			a.Status.ReportRef = &v1alpha1.ReportReference{Name: "notes-1"}
			tc.change(a)
		}), stored(t, "notes-1", clock.Add(-time.Hour), before()))
		for format, success := range map[string]string{
			"junit": `errors="0"`, "sarif": `"executionSuccessful": true`, "markdown": "mcpaudit: Pass", "html": `class="verdict pass"`,
		} {
			o := s.call("show", "notes", "-o", format)
			if got := strings.Contains(o.stdout, success); got != tc.passes || o.code != 0 {
				t.Errorf("%s, %s: passes is %t, want %t (exit %d, %s)\n%.600s", name, format, got, tc.passes, o.code, o.err, o.stdout)
			}
		}
		if o := s.call("show", "notes", "-o", "json"); !strings.Contains(o.stdout, `"verdict": "Pass"`) {
			t.Errorf("%s: the stored report is changed", name)
		}
	}
}
