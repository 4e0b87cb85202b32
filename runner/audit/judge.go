package audit

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/decoy"
	"github.com/mcpaudit/mcpaudit/runner/leak"
	"github.com/mcpaudit/mcpaudit/runner/probe"
	"github.com/mcpaudit/mcpaudit/runner/profile"
	"github.com/mcpaudit/mcpaudit/runner/rules"
	"github.com/mcpaudit/mcpaudit/runner/scope"
	"github.com/mcpaudit/mcpaudit/runner/sinkhole"
)

// inputOf returns the input of the rules.
func inputOf(plan Plan, runs []observation, attacked, varied observation, now time.Time) rules.Input {
	seen, leaks := merge(runs)
	in := seenBy(plan, runs, readScope(plan, exercised(runs)), seen, leaks, now)
	in.Carried = carried(plan, runs, attacked, in)
	in.Recipients = recipients(plan, runs, in)
	for _, o := range runs {
		in.PassedOn = append(in.PassedOn, o.passed...)
	}
	tried := attacked.result
	in.Attack = rules.Attack{
		Profile: attacked.profile, Attempts: tried.Attempts, Unlisted: tried.Unlisted, Posture: tried.Posture, Polluted: tried.Polluted,
		Lures: attacked.how.lures, Statements: attacked.statements, Requests: attacked.requests,
	}
	for _, o := range runs { // the exercise may have begun twice
		in.Attack.Posture.Evaded = cmp.Or(in.Attack.Posture.Evaded, o.result.Posture.Evaded)
	}
	in.Dependences = varied.dependences
	return in
}

// seenBy returns the observations of the runs as input of the rules. The conversation is that of the run that
// exercised the server.
func seenBy(plan Plan, runs []observation, declared scope.Scope, seen profile.Profile, leaks []leak.Leak, now time.Time) rules.Input {
	first, bad := exercised(runs), pollution(runs)
	outputs, _ := outputsOf(runs)
	in := rules.Input{
		Profile: seen, Leaks: leaks, Scope: declared, End: now,
		Drifts:    drifts(runs),
		Pollution: rules.Pollution{Lines: bad.Lines, Sample: bad.Sample, Phase: bad.Phase, Capability: bad.Capability},
		Complete:  complete(runs),
		Breaches:  first.result.Breaches,
		Manifest:  first.result.Manifest, Others: others(runs), Outputs: outputs, Baseline: plan.Baseline, Command: plan.Command, Chosen: plan.chosen(), Env: plan.Env, Asked: settings(given(runs)),
		Missing: missing(runs), Arguments: arguments(runs), Home: plan.Decoys.Home, Dir: plan.Dir,
		Resolvers: plan.resolvers.servers, Search: plan.resolvers.search,
		Identity: identity(runs), Versions: versions(runs),
		Transport: plan.Transport, Port: plan.Port,
	}
	in.Decoys, in.Belongings = planted(plan.Decoys), belongings(plan.Decoys)
	for _, o := range runs {
		if o.how.root != "" {
			in.Opened = append(in.Opened, o.how.root)
		}
	}
	return in
}

// belongings returns the planted files that no program changes by itself, that is, none that is hidden or in a hidden
// directory.
func belongings(decoys decoy.Set) (all []string) {
	for _, f := range decoys.Around {
		if name, err := filepath.Rel(decoys.Home, f.Path); err == nil && !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.") {
			all = append(all, f.Path)
		}
	}
	return all
}

// planted returns the decoys that are files.
func planted(decoys decoy.Set) (all []rules.Decoy) {
	for _, f := range decoys.Files {
		all = append(all, rules.Decoy{Path: f.Path, Routine: f.Routine})
	}
	return all
}

// identity returns the metadata services that every run asked only to identify the machine. A program that tries the
// services of all clouds stops some requests before they are sent: services with a connection but no request count
// like the others. A single one without a request does not.
func identity(runs []observation) map[string]bool {
	only, unasked := map[string]bool{}, map[string]bool{}
	for _, o := range runs {
		for service, is := range o.caught.metadata {
			only = alone(only, service, is)
		}
		maps.Copy(unasked, o.caught.unasked)
	}
	if len(only)+len(unasked) < 2 || slices.Contains(slices.Collect(maps.Values(only)), false) {
		return only
	}
	maps.Copy(only, unasked)
	return only
}

// versions returns the package registries that all runs asked the same: for the versions of one package. Many
// different names could carry data.
func versions(runs []observation) map[string]bool {
	var requests map[string]string
	for _, o := range runs {
		for host, request := range o.caught.versions {
			requests = sole(requests, host, request)
		}
	}
	only := map[string]bool{}
	for host, request := range requests {
		only[host] = request != ""
	}
	return only
}

// complete reports whether every launch was watched to its end, and each capability accepted a call.
func complete(runs []observation) bool {
	_, rows := coverage(runs)
	for _, row := range rows {
		if row.Skipped != "" || row.Calls.Done == 0 {
			return false
		}
	}
	return incomplete(runs).Reason == ""
}

// readScope reads everything that is declared about the server.
func readScope(plan Plan, o observation) scope.Scope {
	given := scope.Given{
		Allow: plan.Scope, ServerJSON: plan.ServerJSON, Command: plan.named(), Home: plan.Decoys.Home, Resolvers: plan.resolvers.servers,
	}
	if plan.Network != report.NetworkAllow {
		given.Gave = sinkhole.Gave // without a sinkhole, names get no made-up addresses
	}
	return scope.Read(o.result.Manifest, given)
}

// arguments returns the values that each capability was called with in any run, because each run has its own marks.
func arguments(runs []observation) map[report.Capability][]rules.Argument {
	all := map[report.Capability][]rules.Argument{}
	known := map[report.Capability]map[rules.Argument]bool{}
	for _, o := range runs {
		for of, called := range o.result.Arguments {
			if known[of] == nil {
				known[of] = map[rules.Argument]bool{}
			}
			for _, a := range called {
				if argument := rules.Argument(a); !known[of][argument] {
					known[of][argument] = true
					all[of] = append(all[of], argument)
				}
			}
		}
	}
	return all
}

// pollution returns the pollution of the run that exercised the server, or else of the first run that has any. A start
// without the arguments that the server demands does not count: then it prints its usage.
func pollution(runs []observation) probe.Pollution {
	first := exercised(runs)
	bad := first.result.Pollution
	for _, o := range runs {
		if bad.Lines == 0 && slices.Equal(o.how.arguments, first.how.arguments) {
			bad = o.result.Pollution
		}
	}
	return bad
}
