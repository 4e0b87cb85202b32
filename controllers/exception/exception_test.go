package exception

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
)

func TestJudge(t *testing.T) {
	end := time.Date(2026, 12, 31, 0, 0, 0, 0, time.UTC)
	e := &v1alpha1.MCPAuditException{Spec: v1alpha1.MCPAuditExceptionSpec{
		PolicyRef: v1alpha1.PolicyReference{Kind: "MCPAuditPolicy", Name: "default"}, Ticket: "SEC-1", ExpiresAt: metav1.NewTime(end),
	}}
	invalid := errors.New("spec.expiresAt: too late")
	for _, test := range []struct {
		name          string
		invalid       error
		policy        target
		now           time.Time
		active, ready string
		message       string
	}{
		{"in force", nil, target{found: true}, end.Add(-time.Second), "True Active", "True Active", "Until 2026-12-31T00:00:00Z it admits what MCPAuditPolicy default denies (SEC-1)."},
		{"ended", nil, target{found: true}, end, "False Expired", "True Expired",
			"The exception ended at 2026-12-31T00:00:00Z and admits nothing any more; what runs is left alone. It can be deleted."},
		{"ended, whatever else", invalid, target{}, end.Add(time.Hour), "False Expired", "True Expired", ""},
		{"invalid", invalid, target{}, end.Add(-time.Second), "False InvalidSpec", "False InvalidSpec",
			"The exception admits nothing: spec.expiresAt: too late. Delete it, and create a correct one."},
		{"no policy", nil, target{}, end.Add(-time.Second), "False PolicyNotFound", "Unknown PolicyNotFound",
			"There is no MCPAuditPolicy default with a gate: the exception admits nothing until there is."},
		{"ignored", nil, target{found: true, ignores: true}, end.Add(-time.Second), "False Ignored", "False Ignored",
			"MCPAuditPolicy default has trust.ignoreExceptions: the exception admits nothing."},
	} {
		active, ready := judge(e, test.invalid, test.policy, test.now)
		if got := string(active.Status) + " " + active.Reason; got != test.active {
			t.Errorf("%s: Active is %s, want %s", test.name, got, test.active)
		}
		if got := string(ready.Status) + " " + ready.Reason; got != test.ready {
			t.Errorf("%s: Ready is %s, want %s", test.name, got, test.ready)
		}
		if test.message != "" && active.Message != test.message || active.Message != ready.Message {
			t.Errorf("%s: the message is %q and %q", test.name, active.Message, ready.Message)
		}
	}
}
