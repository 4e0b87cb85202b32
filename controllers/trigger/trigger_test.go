package trigger_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

func TestDue(t *testing.T) {
	last := &v1alpha1.Trigger{Generation: 3, SpecDigest: "sha256:a"}
	for _, test := range []struct {
		name   string
		in     trigger.Input
		reason v1alpha1.TriggerReason
		says   string
	}{
		{"new object", trigger.Input{Generation: 1}, v1alpha1.TriggerNeverAudited, "not been audited"},
		{"new object that also asks", trigger.Input{Generation: 1, Requested: "now"}, v1alpha1.TriggerNeverAudited, ""},
		{"nothing new", trigger.Input{Last: last, Generation: 3, SpecDigest: "sha256:a"}, "", ""},
		{"another generation of the same", trigger.Input{Last: last, Generation: 4, SpecDigest: "sha256:a"}, "", ""},
		{"another spec", trigger.Input{Last: last, Generation: 4, SpecDigest: "sha256:b"}, v1alpha1.TriggerSpecChanged, "from generation 3, the last one audited, to 4"},
		{"changed and changed back while suspended", trigger.Input{Last: last, Generation: 6, SpecDigest: "sha256:a", Held: true}, v1alpha1.TriggerSpecChanged, ""},
		{"asked", trigger.Input{Last: last, SpecDigest: "sha256:a", Requested: "2", Handled: "1"}, v1alpha1.TriggerRequested, `set to "2"`},
		{"asked and answered", trigger.Input{Last: last, SpecDigest: "sha256:a", Requested: "2", Handled: "2"}, "", ""},
		{"a suppression ended since", trigger.Input{Last: last, SpecDigest: "sha256:a", Audited: noon, Now: noon.Add(2 * time.Hour),
			Untils: []time.Time{noon.Add(time.Hour)}}, v1alpha1.TriggerSuppressionExpired, "ended at 2026-01-02T13:00:00Z"},
		{"a suppression had ended before", trigger.Input{Last: last, SpecDigest: "sha256:a", Audited: noon, Now: noon.Add(2 * time.Hour),
			Untils: []time.Time{noon, noon.Add(3 * time.Hour)}}, "", ""},
		{"no longer asked", trigger.Input{Last: last, SpecDigest: "sha256:a", Handled: "2"}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, due := trigger.Due(test.in)
			if due != (test.reason != "") || got.Reason != test.reason || !strings.Contains(got.Message, test.says) {
				t.Errorf("Due = %+v, %t; want reason %q saying %q", got, due, test.reason, test.says)
			}
		})
	}
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func TestNext(t *testing.T) {
	for name, test := range map[string]struct {
		untils []time.Time
		want   time.Duration
	}{
		"none":      {nil, 0},
		"all ended": {[]time.Time{noon.Add(-time.Hour), noon}, 0},
		"the next":  {[]time.Time{noon.Add(3 * time.Hour), noon.Add(-time.Hour), noon.Add(time.Hour)}, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			if got := trigger.Next(trigger.Input{Untils: test.untils, Now: noon}); got != test.want {
				t.Errorf("Next = %s, want %s", got, test.want)
			}
		})
	}
}

func TestSpecDigest(t *testing.T) {
	base := v1alpha1.MCPServerAuditSpec{Server: v1alpha1.Server{Image: "a"}, Timeout: metav1.Duration{Duration: time.Minute}}
	digest := func(change func(*v1alpha1.MCPServerAuditSpec)) v1alpha1.Digest {
		t.Helper()
		spec := base
		change(&spec)
		d, err := trigger.SpecDigest(spec)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	same := digest(func(*v1alpha1.MCPServerAuditSpec) {})
	for name, test := range map[string]struct {
		change  func(*v1alpha1.MCPServerAuditSpec)
		matters bool
	}{
		"suspend":      {func(s *v1alpha1.MCPServerAuditSpec) { s.Suspend = true }, false},
		"historyLimit": {func(s *v1alpha1.MCPServerAuditSpec) { s.HistoryLimit = ptr.To[int32](7) }, false},
		"image":        {func(s *v1alpha1.MCPServerAuditSpec) { s.Server.Image = "b" }, true},
		"failOn":       {func(s *v1alpha1.MCPServerAuditSpec) { s.FailOn = "Low" }, true},
		"timeout":      {func(s *v1alpha1.MCPServerAuditSpec) { s.Timeout.Duration++ }, true},
		"transport":    {func(s *v1alpha1.MCPServerAuditSpec) { s.Server.Transport, s.Server.Port = v1alpha1.TransportSSE, 80 }, true},
		"probe":        {func(s *v1alpha1.MCPServerAuditSpec) { s.Probe.Rounds = 7 }, true},
		"baseline":     {func(s *v1alpha1.MCPServerAuditSpec) { s.Baseline.Mode = v1alpha1.BaselineNone }, true},
	} {
		if got := digest(test.change); (got != same) != test.matters {
			t.Errorf("a change of %s: digest changed = %t, want %t", name, got != same, test.matters)
		}
	}
}

func TestRequestedIsCut(t *testing.T) {
	got := trigger.Requested(map[string]string{v1alpha1.RequestedAtAnnotation: strings.Repeat("x", 1000)})
	if len(got) != 256 {
		t.Errorf("%d bytes, want 256", len(got))
	}
}

// TestSpecDigestOutlivesUpgrades: fields that are added and not set must not make
// every server of a cluster be audited again.
func TestSpecDigestOutlivesUpgrades(t *testing.T) {
	got, err := trigger.SpecDigest(v1alpha1.MCPServerAuditSpec{
		Server:   v1alpha1.Server{Image: "registry.example/notes:v1", Args: []string{"--stdio"}},
		Baseline: v1alpha1.Baseline{Mode: v1alpha1.BaselineTrustOnFirstUse}, FailOn: "High",
		Timeout: metav1.Duration{Duration: 5 * time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	const released = `{"server":{"image":"registry.example/notes:v1","args":["--stdio"]},"baseline":{"mode":"TrustOnFirstUse"},"failOn":"High","timeout":"5m0s"}`
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(released))); string(got) != want {
		t.Errorf("the digest is %s, was %s", got, want)
	}
}
