package trigger_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/api/v1alpha1"
	"github.com/mcpaudit/mcpaudit/controllers/schedule"
	"github.com/mcpaudit/mcpaudit/controllers/trigger"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// steady is the input of a server that was audited at noon, an hour ago, and of
// which nothing is new.
func steady(changes ...func(*trigger.Input)) trigger.Input {
	in := trigger.Input{
		UID: "a", Now: noon.Add(time.Hour), Generation: 3, SpecDigest: "sha256:a", Baseline: "TrustOnFirstUse",
		Requested: "1", Handled: "1", Audited: noon, TagDigest: "sha256:i", RulesetDigest: "sha256:r", MaxVerdictAge: 30 * 24 * time.Hour,
		Schedule: hourly(24), Untils: []time.Time{noon.AddDate(0, 1, 0)},
		Last: &v1alpha1.Trigger{
			Generation: 3, SpecDigest: "sha256:a", Baseline: "TrustOnFirstUse", ImageDigest: "sha256:i", RulesetDigest: "sha256:r",
		},
	}
	for _, change := range changes {
		change(&in)
	}
	return in
}

func hourly(hours int) *schedule.Schedule {
	parsed, err := schedule.Parse(v1alpha1.Schedule{Interval: &metav1.Duration{Duration: time.Duration(hours) * time.Hour}})
	if err != nil {
		panic(err)
	}
	return &parsed
}

// The occasions, one for each reason.
func isNew(in *trigger.Input)   { in.Last = nil }
func changed(in *trigger.Input) { in.Generation, in.SpecDigest = 4, "sha256:b" }
func rebased(in *trigger.Input) { in.Generation, in.Baseline = 4, "None" }
func moved(in *trigger.Input)   { in.TagDigest = "sha256:j" }
func asked(in *trigger.Input)   { in.Requested = "2" }
func ended(in *trigger.Input)   { in.Untils = append(in.Untils, noon.Add(time.Minute)) }
func lost(in *trigger.Input) {
	in.Failure = trigger.Failure{Reason: "NodeLost", Consecutive: 1, Limit: 3}
}
func relearnt(in *trigger.Input)    { in.RulesetDigest = "sha256:s" }
func overdue(in *trigger.Input)     { in.Audited, in.MaxVerdictAge = noon.AddDate(0, 0, -2), 0 }
func old(in *trigger.Input)         { in.Audited, in.Schedule = noon.AddDate(0, 0, -28), nil }
func given(in *trigger.Input)       { in.Held = true }
func suspended(in *trigger.Input)   { in.Suspended = true }
func unset(in *trigger.Input)       { in.Requested = "" }
func otherReader(in *trigger.Input) { in.SpecDigest = "sha256:b" }
func sameSpec(in *trigger.Input)    { in.Generation = 4 }
func restored(in *trigger.Input)    { in.Created = noon.Add(time.Minute) }
func fromBefore(in *trigger.Input) {
	in.Last = &v1alpha1.Trigger{Generation: 3, SpecDigest: "sha256:0"}
}

func TestDue(t *testing.T) {
	for _, test := range []struct {
		name   string
		in     trigger.Input
		reason v1alpha1.TriggerReason
		says   string
	}{
		{"nothing new", steady(), "", ""},
		{"new object", steady(isNew), v1alpha1.TriggerNeverAudited, "not been audited"},
		{"another spec", steady(changed), v1alpha1.TriggerSpecChanged, "from generation 3, the last one audited, to 4"},
		{"another baseline", steady(rebased), v1alpha1.TriggerBaselineChanged, "from TrustOnFirstUse to None"},
		{"another image behind the tag", steady(moved), v1alpha1.TriggerImageChanged, "sha256:j in the registry, and sha256:i was audited"},
		{"asked", steady(asked), v1alpha1.TriggerRequested, `set to "2"`},
		{"a suppression ended since", steady(ended), v1alpha1.TriggerSuppressionExpired, "ended at 2026-01-02T12:01:00Z"},
		{"a node was lost", steady(lost), v1alpha1.TriggerRetryDue, "NodeLost, which may have passed; this is retry 1 of 3"},
		{"other rules", steady(relearnt), v1alpha1.TriggerRulesetChanged, "other rules"},
		{"scheduled", steady(overdue), v1alpha1.TriggerScheduleDue, "due at 2026-01-01T12:"},
		{"nearly too old", steady(old), v1alpha1.TriggerVerdictExpiring, "nears the age of 720h"},
		{"changed and changed back while suspended", steady(given), v1alpha1.TriggerSpecChanged, "taken back"},

		{"an operator that reads the same spec otherwise", steady(otherReader), "", ""},
		{"another generation of the same", steady(sameSpec), "", ""},
		{"a status of an older operator", steady(fromBefore), "", ""},
		{"restored with the status of another spec", steady(restored, otherReader), v1alpha1.TriggerSpecChanged, "restored from a backup"},
		{"restored with its status", steady(restored), "", ""},
		{"suspended: restored with the status of another spec", steady(suspended, restored, otherReader), v1alpha1.TriggerSpecChanged, ""},
		{"no longer asked", steady(unset), "", ""},
		{"a registry that did not say", steady(moved, func(in *trigger.Input) { in.TagDigest = "" }), "", ""},
		{"rules that do not count", steady(relearnt, func(in *trigger.Input) { in.RulesetDigest = "" }), "", ""},
		{"a suppression that had ended before", steady(func(in *trigger.Input) { in.Untils[0] = noon }), "", ""},

		{"new, and asked for", steady(isNew, asked), v1alpha1.TriggerNeverAudited, ""},
		{"everything at once", steady(changed, rebased, moved, asked, ended, lost, relearnt), v1alpha1.TriggerSpecChanged, ""},
		{"drift before a request", steady(moved, asked), v1alpha1.TriggerImageChanged, ""},
		{"a request before what comes by itself", steady(asked, lost, relearnt, overdue), v1alpha1.TriggerRequested, ""},

		{"suspended: new", steady(suspended, isNew), v1alpha1.TriggerNeverAudited, ""},
		{"suspended: another spec", steady(suspended, changed), v1alpha1.TriggerSpecChanged, ""},
		{"suspended: another baseline", steady(suspended, rebased), v1alpha1.TriggerBaselineChanged, ""},
		{"suspended: a suppression ended, and asked", steady(suspended, asked, ended), v1alpha1.TriggerSuppressionExpired, ""},
		{"suspended: what leaves the verdict as it is", steady(suspended, moved, asked, lost, relearnt, overdue), "", ""},
		{"suspended: too old", steady(suspended, old), "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, due := trigger.Due(test.in)
			if due != (test.reason != "") || got.Reason != test.reason || !strings.Contains(got.Message, test.says) {
				t.Errorf("Due = %+v, %t; want reason %q saying %q", got, due, test.reason, test.says)
			}
			if next := trigger.Next(test.in); due && !next.IsZero() {
				t.Errorf("Next = %s of what is due already", next)
			}
		})
	}
}

// TestNext also holds Due against Next: nothing is due before, and something at it.
func TestNext(t *testing.T) {
	none := func(in *trigger.Input) { in.Untils, in.Schedule, in.MaxVerdictAge = nil, nil, 0 }
	for _, test := range []struct {
		name string
		in   trigger.Input
		want time.Time
		then v1alpha1.TriggerReason
	}{
		{"nothing", steady(none), time.Time{}, ""},
		{"never audited", steady(isNew), time.Time{}, ""},
		{"the schedule", steady(), hourly(24).Next(noon, "a"), v1alpha1.TriggerScheduleDue},
		{"the first suppression", steady(func(in *trigger.Input) {
			in.Untils = []time.Time{noon.Add(5 * time.Hour), noon.Add(-time.Hour), noon.Add(3 * time.Hour)}
		}), noon.Add(3 * time.Hour), v1alpha1.TriggerSuppressionExpired},
		{"the verdict", steady(none, func(in *trigger.Input) { in.MaxVerdictAge = 10 * time.Hour }), noon.Add(9 * time.Hour), v1alpha1.TriggerVerdictExpiring},
		{"a retry", steady(lost, func(in *trigger.Input) { in.Now = noon }), noon.Add(5 * time.Minute), v1alpha1.TriggerRetryDue},
		{"suspended: the suppression only", steady(suspended), noon.AddDate(0, 1, 0), v1alpha1.TriggerSuppressionExpired},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := test.in
			next := trigger.Next(in)
			if !next.Equal(test.want) {
				t.Fatalf("Next = %s, want %s", next, test.want)
			}
			if next.IsZero() {
				return
			}
			in.Now = next.Add(-time.Second)
			if got, due := trigger.Due(in); due {
				t.Errorf("%s is due a second before", got.Reason)
			}
			in.Now = next
			if got, _ := trigger.Due(in); got.Reason != test.then {
				t.Errorf("then %q is due, want %q", got.Reason, test.then)
			}
		})
	}
}

func TestBaseline(t *testing.T) {
	pinned := v1alpha1.Baseline{Mode: v1alpha1.BaselinePinned, ManifestDigest: v1alpha1.Digest("sha256:" + strings.Repeat("a", 64))}
	for want, baseline := range map[string]v1alpha1.Baseline{
		"TrustOnFirstUse": {}, "None": {Mode: v1alpha1.BaselineNone}, "Pinned sha256:" + strings.Repeat("a", 64): pinned,
	} {
		if got := trigger.Baseline(baseline); got != want || len(got) > 96 {
			t.Errorf("Baseline = %q, want %q", got, want)
		}
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
		"historyLimit": {func(s *v1alpha1.MCPServerAuditSpec) { s.HistoryLimit = new(int32(7)) }, false},
		"image":        {func(s *v1alpha1.MCPServerAuditSpec) { s.Server.Image = "b" }, true},
		"failOn":       {func(s *v1alpha1.MCPServerAuditSpec) { s.FailOn = "Low" }, true},
		"timeout":      {func(s *v1alpha1.MCPServerAuditSpec) { s.Timeout.Duration++ }, true},
		"transport":    {func(s *v1alpha1.MCPServerAuditSpec) { s.Server.Transport, s.Server.Port = report.TransportSSE, 80 }, true},
		"probe":        {func(s *v1alpha1.MCPServerAuditSpec) { s.Probe.Rounds = 7 }, true},
		"baseline":     {func(s *v1alpha1.MCPServerAuditSpec) { s.Baseline.Mode = v1alpha1.BaselineNone }, false},
		"schedule":     {func(s *v1alpha1.MCPServerAuditSpec) { s.Schedule = &v1alpha1.Schedule{Cron: "@daily"} }, false},
		"retryLimit":   {func(s *v1alpha1.MCPServerAuditSpec) { s.RetryLimit = new(int32(7)) }, false},
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
	const released = `{"server":{"image":"registry.example/notes:v1","args":["--stdio"]},"failOn":"High","timeout":"5m0s"}`
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(released))); string(got) != want {
		t.Errorf("the digest is %s, was %s", got, want)
	}
}
