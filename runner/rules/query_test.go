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
		"left":                   {queried(honestly, "SELECT * FROM notes WHERE name = 'x' OR marlow-c2 --'"), `QUERY-001 High: Tool format_note put its argument "name" into a statement of SQL as it is`},
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

// TestLeftStringsOfServices: in the language of a service, a number or a name in no quotes is no proof.
func TestLeftStringsOfServices(t *testing.T) {
	of := func(in Input) Input {
		for i := range in.Attack.Statements {
			in.Attack.Statements[i].Protocol = attack.Web
		}
		return in
	}
	const honestly = `text ~ "marlow-c1"`
	expect(t, of(queried(honestly, `text ~ "x" OR marlow-c2 --"`)), `QUERY-001 High: Tool format_note put its argument "name" into a query as it is`)
	expect(t, of(queried(honestly, `text ~ "x\" OR marlow-c2 --"`)), "")
	expect(t, of(queried(honestly, `text ~ "x"" OR marlow-c2 --"`)), "")
	expect(t, of(raw(queried("name = marlow-c1", "name = x OR marlow-c2"))), "")
}

// raw is an attempt where there are no quotes to leave.
func raw(in Input) Input {
	in.Attack.Attempts[1].Raw = true
	return in
}

// parsing are attempts that SQL can read and cannot read in turn, and whether they were accepted.
func parsing(accepted ...bool) Input {
	in := queried()
	for i, each := range accepted {
		a := attack.Attempt{Of: call.Capability, Family: attack.Query, Field: "name", Parse: attack.ParseValid, Call: 3 + i, Answered: true, Accepted: each}
		if i%2 == 1 {
			a.Parse = attack.ParseBroken
		}
		in.Attack.Attempts = append(in.Attack.Attempts, a)
	}
	return in
}

// behindQuote are such attempts behind a quote, beside others that the server takes whatever they are.
func behindQuote(accepted ...bool) Input {
	in := parsing(accepted...)
	for i := range in.Attack.Attempts {
		in.Attack.Attempts[i].Quoted = in.Attack.Attempts[i].Parse != ""
	}
	in.Attack.Attempts = append(in.Attack.Attempts, parsing(true, true, true, true).Attack.Attempts[2:]...)
	return in
}

// TestParsed: the answer of a server whose database is within it.
func TestParsed(t *testing.T) {
	const unknown = "Error: no such column: marlow"
	answered := func(control, answer, value string) Input {
		in := queried()
		in.Attack.Attempts[0].Answer, in.Attack.Attempts[1].Answer = control, answer
		in.Attack.Attempts[1].Value = value
		return in
	}
	number := answered(unknown, unknown, "1 OR marlow-c2")
	number.Attack.Attempts[1].Raw = true
	silentControl := answered("", unknown, "x'||marlow-c2||'")
	silentControl.Attack.Attempts[0].Answered = false
	for name, tc := range map[string]struct {
		in   Input
		want string
	}{
		"left":                    {answered("nothing", unknown, "x'||marlow-c2||'"), `QUERY-001 High: Tool format_note put its argument "name" into a statement of SQL as it is: a part of "x'||marlow-c2||'" was read as SQL (answer: "Error: no such column: marlow")`},
		"PostgreSQL":              {answered("nothing", `column "marlow" does not exist`, "x'||marlow-c2||'"), "QUERY-001 High"},
		"MySQL":                   {answered("nothing", "Unknown column 'marlow' in 'where clause'", "x'||marlow-c2||'"), "QUERY-001 High"},
		"a number":                {number, "QUERY-001 High"},
		"a row of its own":        {answered("nothing", "('marlow-c2',)", "x' UNION SELECT char(109) --"), "QUERY-001 High"},
		"in no quotes":            {raw(answered("", unknown, "name, marlow-c2")), "QUERY-001 High"},
		"in no quotes, as a name": {raw(answered("", "Error: no such column: marlow-c2", "name, marlow-c2")), ""},
		"read by SQL":             {parsing(true, false, true, false), "QUERY-001 High"},
		"read behind a quote":     {behindQuote(true, false, true, false), `QUERY-001 High: Tool format_note put its argument "name" into a query as it is`},
		"taken behind a quote":    {behindQuote(true, true, true, true), ""},
		"all taken":               {parsing(true, true, true, true), ""},
		"all refused":             {parsing(false, false, false, false), ""},
		"refused at times":        {parsing(true, false, false, false), ""},
		"refused once":            {parsing(true, false), ""},
		"the value again":         {answered("nothing", "no notes for x'||marlow-c2||'", "x'||marlow-c2||'"), ""},
		"takes a column":          {answered(unknown, unknown, "x'||marlow-c2||'"), ""},
		"not known":               {silentControl, ""},
		"a search with operators": {answered("no such column: c1", "no such column: c2", "x' OR marlow-c2 --"), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, tc.in, tc.want) })
	}
}

// TestOperator: an object in place of a text is a finding where its operator came to MongoDB.
func TestOperator(t *testing.T) {
	try := attack.Attempt{Of: call.Capability, Family: attack.Query, Operator: true, Form: "as an object with the operator $ne", Field: "user", Value: `{"$ne":"marlow-c7"}`, Call: 7, Answered: true, Accepted: true}
	for name, tc := range map[string]struct {
		statement attack.Statement
		want      string
	}{
		"came there":      {attack.Statement{Protocol: "mongodb", Text: `{"$ne":"marlow-c7"}`}, `QUERY-001 High: Tool format_note handed its argument "user", which is to be a text, to MongoDB as it is`},
		"of another call": {attack.Statement{Protocol: "mongodb", Text: `{"$ne":"marlow-c8"}`}, ""},
		"in SQL":          {attack.Statement{Protocol: "mysql", Text: `SELECT 'marlow-c7'`}, ""},
	} {
		in := input(silent)
		in.Attack.Attempts, in.Attack.Statements = []attack.Attempt{try}, []attack.Statement{tc.statement}
		t.Run(name, func(t *testing.T) { expect(t, in, tc.want) })
	}
}

// TestTested: an attribute of the mark's name in a filter of LDAP is a finding, unless a plain value
// names one, too, or the honest value is a part of a filter.
func TestTested(t *testing.T) {
	tests := func(marks ...string) (in Input) {
		in = queried()
		for _, mark := range marks {
			in.Attack.Statements = append(in.Attack.Statements, attack.Statement{Protocol: attack.Directory, Text: "a search for " + mark})
		}
		return in
	}
	part := tests("marlow-c2")
	part.Attack.Attempts[1].Honest = "uid=note"
	expect(t, tests("marlow-c2"), `QUERY-001 High: Tool format_note put its argument "name" into a filter of LDAP as it is`)
	expect(t, tests("marlow-c1", "marlow-c2"), "")
	expect(t, part, "")
	expect(t, tests("marlow-c8"), "")
}
