package rules

import (
	"fmt"
	"testing"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
	"github.com/mcpaudit/mcpaudit/runner/profile"
)

// TestAA2ProgramsOfManyArguments compares the work for as many programs as arguments with that for twice as many.
func TestAA2ProgramsOfManyArguments(t *testing.T) {
	work := func(n int) float64 {
		tool := report.Capability{Kind: report.CapabilityTool, Name: "run"}
		in := Input{Arguments: map[report.Capability][]Argument{}}
		for i := range n {
			in.Arguments[tool] = append(in.Arguments[tool], Argument{Field: fmt.Sprintf("command[%d]", i), Value: fmt.Sprintf("word%d x", i)})
			fact := profile.Fact{Kind: profile.KindExec, Path: fmt.Sprintf("/opt/program%d", i), Argv: profile.NewArgv("program", "argument")}
			in.Profile.Effects = append(in.Profile.Effects, profile.Effect{Fact: fact, Where: ledger.Where{Capability: tool, Phase: report.PhaseCall}})
		}
		return testing.AllocsPerRun(1, func() { in.programs() })
	}
	if once, twice := work(200), work(400); twice > 3*once {
		t.Errorf("%.0f allocations for 200 programs and arguments, %.0f for 400", once, twice)
	}
}
