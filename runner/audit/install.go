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
	// mostLeft bounds the wait for processes that a script leaves behind.
	mostLeft = 5 * time.Second
	// npm is the command that appears to run install scripts.
	npm = "/usr/bin/npm install"
)

// runScripts runs the install scripts of a package, each in its own launch. The server gets the files that they
// leave.
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

// await waits until a script and the processes that it started have ended. The script has nothing to read.
func (t talking) await(ctx context.Context) probe.Result {
	_ = t.stdin.Close() // it is closed again later
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

// install marks the behavior of a script as that of the script.
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

// uninstalled returns why a Pass would be about less than the package contains when it is installed with a network.
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

// omitted returns the packages that an installation drops if their scripts fail as they did here.
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

// asked returns the first host that a script connected to; "" for none.
func (o observation) asked() string {
	for _, e := range o.profile.Effects {
		if hosts := reached(e); len(hosts) > 0 {
			return hosts[0]
		}
	}
	return ""
}

// judgeInstalls returns the findings about install scripts, for which nothing is declared.
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

// withInstalls adds the behavior of the install scripts to that of the server.
func withInstalls(seen profile.Profile, installs []observation) profile.Profile {
	for _, o := range installs {
		seen.Join(o.profile)
	}
	return seen
}
