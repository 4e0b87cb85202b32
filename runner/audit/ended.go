package audit

import (
	"slices"

	"github.com/mcpaudit/mcpaudit/api/report"
)

// Where a server ends in the call of one tool, the launch for another client goes on: it calls the others, and
// that tool again unless a call that a model would make was the end of it. How the server fails at one call
// says nothing of the rest, and a server that ends at an odd call is not to be spared what comes after it.

// identify makes the launch for a client of another name.
func identify(_ Plan, how *launch, runs []observation) {
	first := exercised(runs).result
	how.identity, how.listOnly, how.once, how.prompt, how.skip = claudeDesktop, false, true, first.Prompt, ending(runs)
	if how.goesOn = first.EndedIn.Kind == report.CapabilityTool; how.goesOn {
		how.calls, how.given = standInCalls, first.Accepted
	}
}

// callAgain makes a launch in which everything is called once, with arguments that it has
// accepted.
func callAgain(_ Plan, how *launch, runs []observation) {
	first := exercised(runs).result
	how.listOnly, how.once, how.given, how.skip, how.prompt = false, true, first.Accepted, ending(runs), first.Prompt
}

// ending is the tool in whose call the server has ended, where a model would make such a call; nil where
// it has not.
func ending(runs []observation) []string {
	if first := exercised(runs).result; first.EndedIn.Kind == report.CapabilityTool && !first.EndedOdd {
		return []string{first.EndedIn.Name}
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
