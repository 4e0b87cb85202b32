package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/attack"
	"github.com/mcpaudit/mcpaudit/runner/inputs"
)

// findLeftStrings finds values that left their string in a statement of SQL, of the attempts on guards.
func findLeftStrings(in Input) (all []draft) {
	for _, a := range in.Attack.Attempts {
		if a.Family != attack.Query || a.Control {
			continue
		}
		if a.Operator {
			all = append(all, in.operated(a)...)
			continue
		}
		s, left := in.Attack.leftString(a)
		if !left {
			s, left = in.Attack.parsed(a, in.End)
		}
		if !left {
			continue
		}
		into, language := "a statement of SQL", "SQL"
		switch {
		case s.Protocol == attack.Web, a.Quoted:
			into, language = "a query", "a part of the query"
		case s.Protocol == attack.Directory:
			into, language = "a filter of LDAP", "a part of the filter"
		}
		all = append(all, draft{
			severity: report.SeverityHigh, phase: report.PhaseCall, capability: a.Of, object: a.Field,
			message: sentence("%s put its argument %s into %s as it is: a part of %s was read as %s (%s: %s)", capital(name(a.Of)),
				quoted(a.Field), into, quoted(clean(a.Value, 120)), language, s.Protocol, quoted(clean(s.Text, 200))),
			evidence: evidenceAt(s.Time, s.Protocol+": "+clean(s.Text, 400)),
		})
	}
	return all
}

// operated finds objects in place of a text that reached MongoDB as operators.
func (in Input) operated(a attack.Attempt) []draft {
	for _, s := range in.Attack.of(a) {
		if s.Protocol == "mongodb" {
			return []draft{{
				severity: report.SeverityHigh, phase: report.PhaseCall, capability: a.Of, object: a.Field,
				message: sentence("%s handed its argument %s, which is to be a text, to MongoDB as it is: the operator in %s came there as one", capital(name(a.Of)),
					quoted(a.Field), quoted(clean(a.Value, 120))),
				evidence: evidenceAt(s.Time, s.Protocol+": "+clean(s.Text, 400)),
			}}
		}
	}
	return nil
}

// tests returns a search of a directory by a filter with an attribute named by the mark, unless the honest value is a
// part of a filter, too.
func (a Attack) tests(try attack.Attempt) (attack.Statement, bool) {
	for _, s := range a.of(try) {
		if s.Protocol == attack.Directory && !strings.Contains(try.Honest, "=") {
			return s, true
		}
	}
	return attack.Statement{}, false
}

// leftString returns the statement in which a part of a value is read as SQL, though plain names at the
// same place stand in a string.
func (a Attack) leftString(try attack.Attempt) (attack.Statement, bool) {
	if s, quotes, ok := a.stands(try); ok && quotes == "" && try.Raw && s.Protocol != attack.Web {
		return s, true // it needs no string
	}
	if s, tested := a.tests(try); tested && !slices.ContainsFunc(a.controls(try), func(c attack.Attempt) bool { _, names := a.tests(c); return names }) {
		return s, true
	}
	for _, control := range a.controls(try) {
		honest, quotes, ok := a.stands(control)
		if !ok || quotes == "" || quotes == "-" {
			continue // missing, or not in a string
		}
		for _, s := range a.of(try) {
			// A tool may send several statements: only the same one counts.
			if now, found := attack.Quoted(s.Protocol, s.Text, mark(try)); found && now == "" && startsLike(s.Text, honest.Text, mark(control)) {
				return s, true
			}
		}
	}
	return attack.Statement{}, false
}

// parsed returns the answer that shows that a value left its string in a statement, for databases within the server: it
// complains of an unknown column, or has a mark that was sent as character codes. The answer had come by the time given.
func (a Attack) parsed(try attack.Attempt, by time.Time) (attack.Statement, bool) {
	answer := attack.Statement{Protocol: "answer", Text: try.Answer, Time: by}
	if strings.Contains(try.Answer, mark(try)) && !strings.Contains(try.Value, mark(try)) {
		return answer, true
	}
	switch {
	case try.Raw:
		return answer, attack.ParsedAlone(try.Answer)
	case try.Parse == attack.ParseValid && a.parses(try):
		answer.Text = "taken, and refused where only a query could not read it"
		return answer, true
	case !attack.Parsed(try.Answer):
		return attack.Statement{}, false
	}
	controls := a.controls(try)
	// If a plain name is taken for a column, too, the argument is meant to name one.
	named := slices.ContainsFunc(controls, func(c attack.Attempt) bool { return !c.Answered || attack.Parsed(c.Answer) })
	return answer, len(controls) > 0 && !named
}

// parses reports whether everything that is valid in a query was accepted at the place of an attempt, and everything
// else refused.
func (a Attack) parses(try attack.Attempt) bool {
	valid, broken := 0, 0
	for _, each := range a.Attempts {
		if each.Parse == "" || each.Quoted != try.Quoted || each.Of != try.Of || each.Place != try.Place {
			continue
		}
		if !each.Answered || refused(each) != (each.Parse == attack.ParseBroken) {
			return false
		}
		if each.Parse == attack.ParseBroken {
			broken++
		} else {
			valid++
		}
	}
	return valid >= 2 && broken >= 2
}

// stands returns the first statement with the mark of an attempt, and the quotes around it.
func (a Attack) stands(try attack.Attempt) (s attack.Statement, quotes string, ok bool) {
	for _, s := range a.of(try) {
		if quotes, found := attack.Quoted(s.Protocol, s.Text, mark(try)); found {
			return s, quotes, true
		}
	}
	return attack.Statement{}, "", false
}

// of returns the statements with the mark of an attempt.
func (a Attack) of(try attack.Attempt) []attack.Statement { return a.sighted.statements[mark(try)] }

// mark returns the text that identifies an attempt.
func mark(a attack.Attempt) string { return inputs.Mark{Call: a.Call}.ID() }

// startsLike reports whether a statement begins like another one before a text.
func startsLike(statement, other, text string) bool {
	before, _, _ := strings.Cut(other, text)
	return strings.HasPrefix(statement, before)
}
