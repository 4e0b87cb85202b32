package rules

import (
	"fmt"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/attack"
)

// queried is a server that has sent statements: of the control, the mark of call 1, and of an
// attempt, that of call 2.
func queried(statements ...string) Input {
	in := input(silent)
	for number, control := range []bool{true, false} {
		in.Attack.Attempts = append(in.Attack.Attempts, attack.Attempt{Of: call.Capability, Family: attack.Query, Form: "behind a single quote", Control: control,
			Field: "name", Value: fmt.Sprintf("x' OR marlow-c%d --", number+1), Call: number + 1, Answered: true, Accepted: true})
	}
	for _, text := range statements {
		in.Attack.Statements = append(in.Attack.Statements, attack.Statement{Protocol: "postgres", Text: text})
	}
	return in
}

const honestly = "SELECT * FROM notes WHERE name = 'marlow-c1'"

var _ = prove(map[string]proof{
	"MCPA-QUERY-001": {
		finds:  []Input{queried(honestly, "SELECT * FROM notes WHERE name = 'x' OR marlow-c2 --'")},
		spares: []Input{queried(honestly, "SELECT * FROM notes WHERE name = 'x'' OR marlow-c2 --'")},
	},
})

// TestLeftStrings: what leaves no string, or stood in none, is no finding.
func TestLeftStrings(t *testing.T) {
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"left":                   {queried(honestly, "SELECT * FROM notes WHERE name = 'x' OR marlow-c2 --'"), `QUERY-001 High: Tool format_note put its argument "name" into a statement as it is`},
		"behind an honest mark":  {queried(honestly, "SELECT * FROM notes WHERE name = 'marlow-c9' OR marlow-c2 --'"), "QUERY-001 High"},
		"as a parameter":         {queried(), ""},
		"takes SQL":              {queried("marlow-c1", "x' OR marlow-c2 --"), ""},
		"in a comment":           {queried("SELECT 1 -- marlow-c1", "SELECT 1 -- x' OR marlow-c2 --"), ""},
		"a name of another kind": {queried("SELECT marlow-c1", "SELECT x' OR marlow-c2 --"), ""},
		"another statement":      {queried(honestly, "marlow-c2"), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, tc.in, tc.want) })
	}
}
