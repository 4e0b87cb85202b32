package attack

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// queryForms are the ways to leave a string of a statement in SQL. The first leaves none, and
// shows where honest values stand. What is joined is valid in every clause.
var queryForms = []form{
	asked("as a name", "!").plainly(),
	asked("joined behind a single quote", "{}'||!||'"),
	asked("behind a single quote", "{}' OR ! --"),
	asked("behind a single quote, without a comment", "{}' OR ! OR '"),
	asked("behind a double quote", `{}" OR ! --`),
	asked("behind a backslash and a single quote", `{}\' OR ! --`),
	asked("behind a bracket and a single quote", "{}') OR ! --"),
	asked("behind a backtick", "{}` OR ! --"),
	asked("behind a single quote, without a blank", "{}'/**/OR/**/!--"),
	asked("behind a single quote in full width", "{}＇ OR ! --"),
	asked("behind an encoded single quote", "{}%27 OR ! --"),
	asked("joined behind a double quote", `{}"||!||"`),
	united(1), united(2), united(3), united(4), united(5), united(6), united(7), united(8),
}

// likeliest is how many of them, from the first, are tried on a tool that shows no sign of a database.
const likeliest = 2

// behindNumber is the way out of where a number stands, with no quotes to leave.
var behindNumber = form{name: "behind a number", write: func(f field, m inputs.Mark, _ int) string {
	return cmp.Or(f.value, "1") + " OR " + m.ID()
}}

// united is a form that adds a row of so many columns, each with the mark as the codes of its
// letters: only SQLite makes the mark of them.
func united(columns int) form {
	return form{name: "with a row added behind a single quote", write: func(f field, m inputs.Mark, _ int) string {
		codes := make([]string, len(m.ID()))
		for i, letter := range []byte(m.ID()) {
			codes[i] = strconv.Itoa(int(letter))
		}
		column := "char(" + strings.Join(codes, ",") + ")"
		return f.before + f.honest(m) + "' UNION SELECT " + strings.Join(slices.Repeat([]string{column}, columns), ",") + " --" + f.behind
	}}
}

// asked is a form by its pattern: "{}" stands for the honest value, "!" for the mark.
func asked(name, pattern string) form {
	return form{name: name, write: func(f field, m inputs.Mark, _ int) string {
		return f.before + strings.NewReplacer("{}", f.honest(m), "!", m.ID()).Replace(pattern) + f.behind
	}}
}

// maxQueryFields is at how many places of one target they are tried.
const maxQueryFields = 4

// querySteps are the attempts of family Query: all of them on what may ask a database.
func querySteps(fields []field, seen Seen, said string) (all []step) {
	forms := queryForms
	if !seen.Network && !seen.Database && !ofDatabase.MatchString(said) {
		forms = forms[:likeliest]
	}
	fields = slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return statementLike.MatchString(f.value) })
	texts := slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return !f.text })
	for _, form := range forms {
		for _, f := range texts[:min(len(texts), maxQueryFields)] {
			all = append(all, step{family: Query, form: form, field: f})
		}
	}
	for _, f := range fields {
		if f.numbers() {
			all = append(all, step{family: Query, form: behindNumber, field: f})
		}
	}
	return all
}

// numbers reports whether a place takes numbers only, by its type or its name.
func (f field) numbers() bool {
	_, err := strconv.ParseInt(f.value, 10, 64)
	return err == nil && forNumber.MatchString(f.name) || f.number
}

// forNumber are names of numbers that may be declared as texts.
var forNumber = lazyregexp.New(`(?i)(?:^|[_.-])(?:id|number|limit|offset|page|year)$|[a-z](?:Id|Number)$`)

// ofDatabase are words of what asks one.
var ofDatabase = lazyregexp.New(`(?i)\bsql|sqlite|\bdatabases?\b|\bdb\b|\btables?\b|\brecords?\b|\brows?\b|\bquer(?:y|ies)\b`)

// Numeric reports whether an attempt stands where numbers do, which are in no quotes.
func (a Attempt) Numeric() bool { return a.Form == behindNumber.name }

// Parsed reports whether an answer says that the database took the word of a mark for the name of a
// column: it stood in no quotes.
func Parsed(answer string) bool { return unknownColumn.MatchString(answer) }

// unknownColumn is what SQLite, PostgreSQL, MySQL, SQL Server, DuckDB and Oracle say of a column
// that they do not know.
var unknownColumn = lazyregexp.New(strings.ReplaceAll("(?i)no such column:? [`\"']?W\\b|column [`\"']W[`\"'] (?:does not exist|not found)|"+
	"unknown column [`\"']W[`\"']|invalid column name 'W'|\"W\": invalid identifier", "W", inputs.Word))
