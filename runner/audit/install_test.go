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
	o := watched(func(o *observation) {
		o.exited, o.known, o.how.script = true, true, &packages.Script{Of: "a@1 (postinstall)"}
	}, change)
	o.install()
	return o
}

// TestUninstalled: what an install script asked for or failed at was not audited.
func TestUninstalled(t *testing.T) {
	optional := &packages.Script{Of: "b@1 (install)", Optional: true}
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
		"failed, optional": {func(o *observation) { o.status, o.how.script = syscall.WaitStatus(127<<8), optional }, "", ""},
		"asked, optional": {func(o *observation) {
			o.status, o.how.script, o.profile.Effects = syscall.WaitStatus(1<<8), optional, []profile.Effect{connects("cdn.example", "104.16.0.1")}
		}, report.ReasonCodeFetched, "cdn.example"},
		"endless, optional": {func(o *observation) { o.result.Incomplete.Reason, o.how.script = report.ReasonInstallFailed, optional }, report.ReasonInstallFailed, ""},
		"too long":          {func(o *observation) { o.result.Incomplete.Reason = report.ReasonInstallFailed }, report.ReasonInstallFailed, ""},
		"no tracer":         {func(o *observation) { o.lost = true }, report.ReasonTracerLost, ""},
		"no start":          {func(o *observation) { o.launched = context.DeadlineExceeded }, report.ReasonTimeout, ""},
		"overflowed":        {func(o *observation) { o.stats.Dropped = 1 }, report.ReasonTraceOverflow, ""},
	} {
		got := uninstalled([]observation{scripted(tc.change)})
		if got.Reason != tc.want || !strings.Contains(got.Message, tc.message) {
			t.Errorf("%s: %s, %s", name, got.Reason, got.Message)
		}
	}
}

// TestOmitted: an optional package whose script fails is left out, and that is said.
func TestOmitted(t *testing.T) {
	failed := func(o *observation) {
		o.status, o.how.script = syscall.WaitStatus(1<<8), &packages.Script{Of: "b@1 (install)", Optional: true}
	}
	for _, g := range gaps([]observation{scripted(failed), scripted(func(*observation) {})}, []observation{watched()}, observation{}, observation{}, report.NetworkSinkhole) {
		if g.What == "OptionalPackages" && g.Count == 1 && strings.Contains(g.Detail, "b@1 (install)") {
			return
		}
	}
	t.Error("no gap names the package")
}

// TestJudgeInstalls: install scripts are there to connect and to execute, not to read a secret.
func TestJudgeInstalls(t *testing.T) {
	at := func(kind profile.Kind, path string) profile.Effect {
		return profile.Effect{Fact: profile.Fact{Kind: kind, Path: path, Operation: "openat"}, Count: 1}
	}
	plan := Plan{installs: []observation{scripted(func(o *observation) {
		o.profile.Effects = []profile.Effect{starts("/bin/sh", "-c", "make"), connects("cdn.example", "104.16.0.1"), at(profile.KindWrite, "/usr/lib/x"), at(profile.KindRead, "/home/ellis/.aws/credentials")}
	})}}
	got := judgeInstalls(plan, time.Now())
	if len(got) != 1 || got[0].Rule != "MCPA-FILE-001" || got[0].Phase != report.PhaseInstall || got[0].Capability.Name != "a@1 (postinstall)" {
		t.Errorf("%+v", got)
	}
	if judgeInstalls(Plan{}, time.Now()) != nil {
		t.Error("findings without a script")
	}
}
