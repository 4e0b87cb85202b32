package audit

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/scope"
)

const (
	mostScript = 3 * time.Minute
	// mostLeft bounds what a script has started and left behind.
	mostLeft = 5 * time.Second
	// npm is the command that seems to run install scripts.
	npm = "/usr/bin/npm install"
)

// runScripts runs the install scripts of a package, each in a launch of its own. What they leave, the server
// has.
func runScripts(ctx context.Context, plan Plan, launcher Launcher) (all []observation) {
	plan.Transport = report.TransportStdio
	for i, script := range plan.Package.Scripts {
		plan.Progress(fmt.Sprintf("run install script %d of %d: %s", i+1, len(plan.Package.Scripts), script.Of))
		within, end := context.WithTimeout(ctx, mostScript)
		how := launch{script: &script, identity: persona{parent: npm, env: script.Env}}
		o := observe(within, plan, launcher, how)
		end()
		o.how = how
		o.install()
		all = append(all, o)
	}
	return all
}

// await waits for a script to end, and what it has started. It has nothing to read.
func (t talking) await(ctx context.Context) probe.Result {
	_ = t.stdin.Close() // it is closed once more
	select {
	case <-t.process.Exited():
	case <-ctx.Done():
		return probe.Result{Incomplete: report.Incomplete{Reason: report.ReasonInstallFailed, Message: "it did not end in time"}}
	}
	ctx, cancel := context.WithTimeout(ctx, mostLeft)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for t.process.Trace().Running() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return probe.Result{Incomplete: report.Incomplete{Reason: report.ReasonInstallFailed, Message: "it left a process running, and what that does later was not seen"}}
		}
	}
	return probe.Result{}
}

// install enters in what a script did that it was the script.
func (o *observation) install() {
	where := ledger.Where{
		Phase: report.PhaseInstall, Capability: report.Capability{Kind: report.CapabilityPackage, Name: o.how.script.Of}, Attribution: report.AttributionPhase,
	}
	for i := range o.profile.Effects {
		o.profile.Effects[i].Where = where
	}
	for i := range o.leaks {
		o.leaks[i].Where = where
	}
	for i := range o.shown {
		o.shown[i].Capability = where.Capability
	}
}

// uninstalled returns why a Pass would be about less than what the package is where it is installed with the
// network.
func uninstalled(installs []observation) report.Incomplete {
	for _, o := range installs {
		reason := cmp.Or(o.unwatched(), o.overflow(), o.result.Incomplete)
		if host := o.asked(); reason.Reason == "" && host != "" {
			reason = report.Incomplete{Reason: report.ReasonCodeFetched, Message: fmt.Sprintf("it asked for something from %s, which was not there to be audited", host)}
		}
		if reason.Reason == "" && o.failed() && !o.how.script.Optional {
			reason = report.Incomplete{Reason: report.ReasonInstallFailed, Message: "it ended with " + o.exit()}
			if lines := strings.Split(strings.TrimSpace(o.stderr), "\n"); lines[len(lines)-1] != "" {
				reason.Message += ": " + report.Cut(strings.TrimSpace(lines[len(lines)-1]), 200)
			}
		}
		if reason.Reason != "" {
			reason.Message = fmt.Sprintf("the install script of %s: %s", o.how.script.Of, reason.Message)
			return reason
		}
	}
	return report.Incomplete{}
}

// failed reports whether an install script ended with an error.
func (o observation) failed() bool { return o.status.ExitStatus() != 0 }

// omitted are packages that whoever installs is left without where their scripts fail as they did here.
func (c *collection) omitted(installs []observation) {
	var failed []string
	for _, o := range installs {
		if o.failed() && o.how.script.Optional {
			failed = append(failed, o.how.script.Of)
		}
	}
	c.add("OptionalPackages", len(failed), "optional packages whose install scripts failed here, without a network; what they do where those succeed is not known: "+
		strings.Join(failed, ", "))
}

// asked is the first host that a script connected to; "" if there is none.
func (o observation) asked() string {
	for _, e := range o.profile.Effects {
		if hosts := reached(e); len(hosts) > 0 {
			return hosts[0]
		}
	}
	return ""
}

// judgeInstalls returns the findings on install scripts. Nothing is declared of what they do.
func judgeInstalls(plan Plan, now time.Time) []report.Finding {
	if len(plan.installs) == 0 {
		return nil
	}
	in := rules.Input{
		Profile: withInstalls(profile.Profile{}, plan.installs),
		Scope:   scope.Read(plan.installs[0].result.Manifest, scope.Given{Home: plan.Decoys.Home, Resolvers: plan.resolvers.servers}), End: now, Occasion: rules.Installing,
		Home: plan.Decoys.Home, Dir: plan.Dir, Resolvers: plan.resolvers.servers, Search: plan.resolvers.search, Decoys: planted(plan.Decoys),
	}
	for _, o := range plan.installs {
		in.Leaks = append(in.Leaks, o.leaks...)
	}
	return rules.Judge(in)
}

// withInstalls adds to what the server did what its install scripts did.
func withInstalls(seen profile.Profile, installs []observation) profile.Profile {
	for _, o := range installs {
		seen.Join(o.profile)
	}
	return seen
}
