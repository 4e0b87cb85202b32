package audit

import (
	"math/rand/v2"
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// If a server exits during the call of a tool, the launch for another client continues: it calls the other tools, and
// that tool again unless a call that a model would make ended the server. Failing at one call says nothing about the
// rest, and a server must not avoid observation by exiting at an odd call.

// identify prepares the launch for another client.
func identify(_ Plan, how *launch, runs []observation) {
	first := exercised(runs).result
	how.identity, how.listOnly, how.once, how.prompt, how.skip = claudeDesktop, false, true, first.Prompt, ending(runs)
	if how.goesOn = first.EndedIn.Kind == report.CapabilityTool; how.goesOn {
		how.calls, how.given = standInCalls, first.Accepted
	}
	how.abrupt = !how.goesOn
}

// callAgain prepares a launch that calls everything once, with arguments that were accepted.
func callAgain(_ Plan, how *launch, runs []observation) {
	first := exercised(runs).result
	how.listOnly, how.once, how.given, how.skip, how.prompt = false, true, first.Accepted, ending(runs), first.Prompt
}

// callReworded prepares a launch that calls everything once, with other sentences than the exercise.
func callReworded(plan Plan, how *launch, runs []observation) {
	callAgain(plan, how, runs)
	how.given = inputs.Reworded(how.given, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())))
}

// ending returns the tool during whose call the server exited, if a model would make such a call; nil otherwise.
func ending(runs []observation) []string {
	if first := exercised(runs).result; first.EndedIn.Kind == report.CapabilityTool && !first.EndedOdd {
		return []string{first.EndedIn.Name}
	}
	return nil
}

// goesOn returns the launch that continued after the server had exited during a call; false if it had not, or if not
// everything was called and listed again in that launch.
func goesOn(runs []observation) (next observation, ok bool) {
	first := exercised(runs).result
	if first.EndedIn.Kind != report.CapabilityTool || first.Incomplete.Reason != report.ReasonServerExited {
		return observation{}, false
	}
	next, ok = at(runs, report.MomentIdentity)
	if !ok || !next.compared() || !next.result.Relisted {
		return observation{}, false
	}
	_, rows := coverage(runs)
	return next, !slices.ContainsFunc(rows, func(row report.CapabilityCoverage) bool {
		return row.Kind == report.CapabilityTool && row.Calls.Total == 0
	})
}
