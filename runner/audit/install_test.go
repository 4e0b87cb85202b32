package audit

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/packages"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// scripted is the run of an install script.
func scripted(change func(*observation)) observation {
	o := watched(func(o *observation) { o.exited, o.known = true, true }, change)
	o.how.script = &packages.Script{Of: "a@1 (postinstall)"}
	o.install()
	return o
}

// TestUninstalled: what an install script asked for or failed at was not audited.
func TestUninstalled(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(*observation)
		want    report.Reason
		message string
	}{
		"all well":  {func(*observation) {}, "", ""},
		"connected": {func(o *observation) { o.profile.Effects = []profile.Effect{connects("cdn.example", "104.16.0.1")} }, report.ReasonCodeFetched, "cdn.example"},
		"loopback":  {func(o *observation) { o.profile.Effects = []profile.Effect{connects("", "127.0.0.1")} }, "", ""},
		"failed": {func(o *observation) { o.status, o.stderr = syscall.WaitStatus(3<<8), "a\nno compiler\n" }, report.ReasonInstallFailed,
			"a@1 (postinstall): it ended with exit status 3: no compiler"},
		"too long":   {func(o *observation) { o.result.Incomplete.Reason = report.ReasonInstallFailed }, report.ReasonInstallFailed, ""},
		"no tracer":  {func(o *observation) { o.lost = true }, report.ReasonTracerLost, ""},
		"no start":   {func(o *observation) { o.launched = context.DeadlineExceeded }, report.ReasonTimeout, ""},
		"overflowed": {func(o *observation) { o.stats.Dropped = 1 }, report.ReasonTraceOverflow, ""},
	} {
		got := uninstalled([]observation{scripted(tc.change)})
		if got.Reason != tc.want || !strings.Contains(got.Message, tc.message) {
			t.Errorf("%s: %s, %s", name, got.Reason, got.Message)
		}
	}
}

// TestJudgeInstalls: to connect and to execute is what install scripts are for; to read a secret is not.
func TestJudgeInstalls(t *testing.T) {
	at := func(kind profile.Kind, path string) profile.Effect {
		return profile.Effect{Fact: profile.Fact{Kind: kind, Path: path, Operation: "openat"}, Count: 1}
	}
	plan := Plan{installs: []observation{scripted(func(o *observation) {
		o.profile.Effects = []profile.Effect{starts("/bin/sh", "-c", "make"), connects("cdn.example", "104.16.0.1"), at(profile.KindWrite, "/usr/lib/x"), at(profile.KindRead, "/home/marlow/.aws/credentials")}
	})}}
	got := judgeInstalls(plan, time.Now())
	if len(got) != 1 || got[0].Rule != "MCPA-FILE-001" || got[0].Phase != report.PhaseInstall || got[0].Capability.Name != "a@1 (postinstall)" {
		t.Errorf("%+v", got)
	}
	if judgeInstalls(Plan{}, time.Now()) != nil {
		t.Error("findings without a script")
	}
}
