package audit

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/conditions"
	"github.com/mcpaudit/mcpaudit/controllers/podspec"
	"github.com/mcpaudit/mcpaudit/controllers/verdict"
)

// TestLog: the life of an audit is a few lines, one for each state that it enters.
func TestLog(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "notes-1", CreationTimestamp: metav1.NewTime(now.Add(-7 * time.Second))}}
	auditing := func(reason string) func(*session) {
		return func(s *session) {
			s.set(v1alpha1.ConditionAuditing, conditions.True(reason, "for "+reason))
			s.audit.Status.Conditions[0].LastTransitionTime = metav1.NewTime(now.Add(-3 * time.Second))
		}
	}
	ran := map[string]any{"run": "notes-1", "trigger": "Requested"}
	line := func(fields map[string]any, extra map[string]any) map[string]any {
		all := map[string]any{}
		for _, some := range []map[string]any{fields, extra} {
			maps.Copy(all, some)
		}
		return all
	}
	for _, test := range []struct {
		name          string
		before, after func(*session)
		want          map[string]any // nil: no line
	}{
		{"nothing changed", auditing("Running"), auditing("Running"), nil},
		{"still queued, for something else", auditing("Queued"), auditing("Queued"), nil},
		{"queued", nil, auditing("Queued"), line(ran, map[string]any{"msg": "Waiting", "reason": "Queued", "message": "for Queued"})},
		{"started", auditing("Queued"), func(s *session) {
			auditing("Running")(s)
			s.pod, s.started, s.waited, s.image, s.run.Message = pod, true, 3*time.Second, "registry.example/notes", "somebody asked"
		}, line(ran, map[string]any{"msg": "Started audit", "pod": "notes-1", "image": "registry.example/notes", "waitedSeconds": 3.0, "because": "somebody asked"})},
		{"running, as the cache shows", auditing("Queued"), auditing("Running"), nil},
		{"collecting", auditing("Running"), auditing("Collecting"), line(ran, map[string]any{"msg": "Waiting", "reason": "Collecting", "message": "for Collecting"})},
		{"decided", auditing("Running"), func(s *session) {
			s.pod, s.decided, s.resolved = pod, true, "sha256:1"
			s.outcome = verdict.Outcome{Verdict: v1alpha1.VerdictInconclusive, Reason: report.ReasonTimeout, Message: "no answer"}
		}, line(ran, map[string]any{"msg": "Decided audit", "verdict": "Inconclusive", "reason": "Timeout", "message": "no answer", "seconds": 7.0, "imageDigest": "sha256:1"})},
		{"suspended", nil, func(s *session) { s.run = podspec.Run{}; s.hold() }, map[string]any{
			"msg": "Suspended audit", "message": "An audit is due and suspended (spec.suspend is true). Set spec.suspend to false to have the server audited.",
		}},
		{"still suspended", func(s *session) { s.hold() }, func(s *session) { s.hold() }, nil},
		{"at rest", auditing("Running"), func(s *session) { s.idle() }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &session{audit: &v1alpha1.MCPServerAudit{}, now: now, run: podspec.Run{Name: "notes-1", Reason: v1alpha1.TriggerRequested}}
			if test.before != nil {
				test.before(s)
			}
			before := s.audit.DeepCopy()
			test.after(s)
			var out bytes.Buffer
			s.log(logr.FromSlogHandler(slog.NewJSONHandler(&out, nil)), before)
			if test.want == nil {
				if out.Len() > 0 {
					t.Errorf("logged %s", out.String())
				}
				return
			}
			var got map[string]any
			if err := json.Unmarshal(out.Bytes(), &got); err != nil {
				t.Fatalf("%v: %q", err, out.String())
			}
			delete(got, "time")
			test.want["level"] = "INFO"
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
		})
	}
}
