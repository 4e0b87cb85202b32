package audit

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Where a server ends in the call of one tool, the others are called in the launch for
// another client, which calls everything and leaves that tool out: how the server fails at
// one call says nothing of the rest.

// identify makes the launch for a client of another name.
func identify(_ Plan, how *launch, runs []observation) {
	how.identity, how.listOnly, how.once, how.prompt = claudeDesktop, false, true, exercised(runs).result.Prompt
	if how.skip = ending(runs); how.skip != nil {
		how.calls = standInCalls
	}
}

// callAgain makes a launch in which everything is called once, with arguments that it has
// accepted.
func callAgain(_ Plan, how *launch, runs []observation) {
	first := exercised(runs).result
	how.listOnly, how.once, how.given, how.skip, how.prompt = false, true, first.Accepted, ending(runs), first.Prompt
}

// ending is the tool in whose call the server has ended; nil where it has not.
func ending(runs []observation) []string {
	if in := exercised(runs).result.EndedIn; in.Kind == report.CapabilityTool {
		return []string{in.Name}
	}
	return nil
}

// goesOn is the launch that went on where the server had ended in a call; false where it
// had not, or where not everything was called and listed again in that launch either.
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
