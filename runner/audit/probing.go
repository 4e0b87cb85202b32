package audit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/mcpaudit/mcpaudit/api/plan"
	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/trace"
)

// runProbe runs the session with a server.
func runProbe(ctx context.Context, plan Plan, conn probe.Conn, secrets *leak.Collector, how launch) probe.Result {
	options := plan.options(how)
	options.Refuse = secrets.Holds
	options.Progress = func(method string, phase report.Phase, of report.Capability) {
		secrets.Asked(phase, of)
		plan.Progress(describe(method, of))
	}
	result, err := probe.Run(ctx, conn, options)
	if err != nil && result.Incomplete.Reason == "" {
		result.Incomplete = report.Incomplete{Reason: report.ReasonTimeout, Message: "the session was broken off"}
	}
	return result
}

// knocks reports whether a server that demands a token is asked in other ways: in the exercise, where guards are tried
// and the server runs in a sandbox.
func (p Plan) knocks(how launch) bool {
	return how.moment == "" && p.Probe.Attack != plan.AttackOff && p.Network != report.NetworkAllow
}

func (p Plan) options(how launch) probe.Options {
	options := probe.Options{
		Discover: how.discover, Revision: how.revision, Identity: how.identity.name, Title: how.identity.title, Site: how.identity.site, Meta: how.identity.meta, Plain: how.identity.name != "" && how.identity.name != anyClient.name, ListOnly: how.listOnly, Attack: how.attack,
		Version: cmp.Or(how.identity.version, Build()), Inputs: inputs.Options{Dir: scratch, Bound: p.bound(), Sunk: p.Network == report.NetworkSinkhole},
		Calls: p.Probe.Calls, Skip: slices.Concat(p.Probe.SkipTools, how.skip), Given: p.Probe.Inputs, Chosen: p.Probe.Inputs, Rounds: p.Probe.Rounds, Prompt: how.prompt, Silent: how.silent,
		MaxCalls: p.Probe.MaxCallsPerTool, CallTimeout: p.Probe.CallTimeout.Duration, Seed: p.Probe.Seed,
		Knock:     p.knocks(how),
		Following: how.following(), Reserved: reserved(p.Timeout),
	}
	if len(how.given) > 0 {
		options.Given = maps.Clone(how.given)
		maps.Copy(options.Given, p.Probe.Inputs)
	}
	if how.once {
		options.Rounds, options.MaxCalls, options.CallTimeout = 1, cmp.Or(how.calls, 1), how.callTimeout()
		options.Wait = how.wait
		if how.clock.Again > 0 {
			options.Rounds, options.MaxCalls, options.Until = 2, 2, time.Now().Add(how.clock.Slow())
			options.Hours, options.Alone = how.clock.For/2+trace.MostTrue, trace.MostTrue+leftAlone
			options.Unhurried = how.unhurried
		}
	}
	if how.vary { // one round per call, so that a call is repeated if there are no new arguments
		options.CallTimeout, options.Rounds, options.Settle, options.Refused = variedTimeout, options.MaxCalls, variedSettle, how.refused
	}
	options.Inputs.Root = how.root
	if how.project {
		options.Inputs.Root = path.Join(scratch, inputs.ProjectDir)
	}
	options.Incapable, options.Favourite = how.incapable, how.favourite
	options.Proper = how.goesOn
	if (how.moment == "" && !how.listOnly || how.goesOn) && p.Probe.Depth != report.DepthQuick {
		options.Endure, options.Values = endurance, how.values
		if p.Probe.Depth == report.DepthDeep {
			options.Endure *= deepTime
		}
	}
	if how.attack != nil { // marks attribute effects to calls
		options.Settle, options.SettleMost = attackSettle, 5*attackSettle
	}
	if how.listOnly || how.once {
		// The first launch has shown what the server does when it is idle.
		options.Idle, options.Grace = 100*time.Millisecond, 500*time.Millisecond
	}
	return options
}

func describe(method string, of report.Capability) string {
	if of.Name == "" {
		return method
	}
	return fmt.Sprintf("%s %s", method, of.Name)
}
