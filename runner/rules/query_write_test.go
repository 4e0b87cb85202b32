package rules

import (
	"fmt"
	"testing"

	"github.com/mcpaudit/mcpaudit/runner/attack"
)

// wrote is a server that took statements: the control, with the mark of call 1, and an
// attempt, with that of call 2. What came to the database is given, and what that changed there.
func wrote(s server, accepted bool, statements ...attack.Statement) Input {
	in := input(s)
	in.Manifest = s.manifest()
	for number, control := range []bool{true, false} {
		in.Attack.Attempts = append(in.Attack.Attempts, attack.Attempt{Of: call.Capability, Family: attack.Write, Form: "behind the end of the transaction", Control: control,
			Field: "sql", Value: fmt.Sprintf("COMMIT; INSERT INTO notes VALUES ('marlow-c%d')", number+1), Call: number + 1, Answered: true, Accepted: accepted || !control})
	}
	for _, each := range statements {
		each.Protocol = "postgres"
		in.Attack.Statements = append(in.Attack.Statements, each)
	}
	return in
}

// insert is a statement with the mark of a call, which changed something or did not.
func insert(number int, took bool) attack.Statement {
	s := attack.Statement{Text: fmt.Sprintf("INSERT INTO notes VALUES ('marlow-c%d')", number)}
	if took {
		s.Writes = []string{s.Text}
	}
	return s
}

var (
	readsNotes = server{name: "notes", tools: []string{"format_note: Runs a read-only SQL query."}}
	takesSQL   = server{name: "notes", tools: []string{"format_note: Runs SQL."}}
)

var _ = prove(map[string]proof{
	"MCPA-QUERY-002": {
		finds:  []Input{wrote(takesSQL, true, insert(1, false), insert(2, true))},
		spares: []Input{wrote(takesSQL, true, insert(1, true), insert(2, true)), wrote(readsNotes, true, insert(1, false), insert(2, false))},
	},
})

// intoFile is a server whose database wrote the file of the second attempt.
func intoFile(in Input) Input {
	in.Attack.Profile.Effects = append(in.Attack.Profile.Effects, overwritten("/var/tmp/marlow-elsewhere/marlow-run-c2"))
	return in
}

// TestWritesPastGuards: a change of the database counts where something was to keep it off.
func TestWritesPastGuards(t *testing.T) {
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"out of a transaction": {wrote(takesSQL, true, insert(1, false), insert(2, true)), `QUERY-002 High: Tool format_note changed the database by its argument "sql" (behind the end of the transaction)`},
		"past a refusal":       {wrote(takesSQL, false, insert(2, true)), "QUERY-002 High"},
		"although it says":     {wrote(readsNotes, true, insert(1, true), insert(2, true)), "QUERY-002 High"},
		"no guard, no word":    {wrote(takesSQL, true, insert(1, true), insert(2, true)), ""},
		"into a file":          {intoFile(wrote(readsNotes, true, insert(1, false))), `QUERY-002 High: Tool format_note changed a file by its argument "sql"`},
		"held":                 {wrote(readsNotes, true, insert(1, false), insert(2, false)), ""},
		"refused":              {wrote(readsNotes, false), ""},
		"not known":            {wrote(takesSQL, true, insert(2, true)), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, tc.in, tc.want) })
	}
}
