package attack

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// writeForms are statements that change something, and ways to get one past a guard that allows
// only reads. The first is undisguised, the last reads back what SQLite has stored.
var writeForms = []form{
	stated("as the statement", creating).plainly(),
	stated("behind a read", "SELECT 1; "+creating),
	stated("behind the end of the transaction", "COMMIT; "+creating),
	stated("behind a read and the end of the transaction", "SELECT 1; ROLLBACK; "+creating),
	stated("in a common table expression", "WITH kept AS (INSERT INTO notes VALUES ('!') RETURNING 1) SELECT * FROM kept"),
	stated("as a deletion behind a common table expression", "WITH kept AS (SELECT '!' AS note) DELETE FROM notes WHERE note IN (SELECT note FROM kept)"),
	stated("as what is explained", "EXPLAIN ANALYZE INSERT INTO notes VALUES ('!')"),
	stated("behind a comment", "/* SELECT */ "+creating),
	stated("behind a comment of one line", "-- SELECT\n"+creating),
	stated("as a read into a table", "SELECT '!' AS note INTO notes_copy"),
	stated("as a read into a file", "SELECT '!' INTO OUTFILE '/tmp/notes_copy'"),
	stated("as a copy to a program", "COPY (SELECT '!') TO PROGRAM 'cat'"),
	stated("as what a page of the database keeps", versioning),
	stated("as a copy of all of it", "VACUUM INTO '@'"),
	stated("as a copy to a file", "COPY (SELECT '!') TO '@'"),
	stated("in letters of both cases", "cReAtE tAbLe notes_# (note VARCHAR(40) DEFAULT '!')"),
	stated("behind a change of the transaction", "SET TRANSACTION READ WRITE; INSERT INTO notes VALUES ('!')"),
	stated(readBack, "SELECT group_concat(hex(name)) FROM (SELECT name FROM sqlite_master WHERE name LIKE 'notes_%' ORDER BY rowid DESC LIMIT 16)"),
}

// rowForms add a row to the table of the honest statement, by its rowid alone, which every SQLite table
// has, for guards against CREATE. The last reads the rows back.
var rowForms = []form{
	rowed("as a row", "INSERT INTO % (rowid) SELECT ~ WHERE '!' <> ''").plainly(),
	rowed("as a row in place of another", "REPLACE INTO % (rowid) SELECT ~ WHERE '!' <> ''"),
	rowed("as a row behind a common table expression", "WITH kept AS (SELECT ~ AS id) INSERT INTO % (rowid) SELECT id FROM kept WHERE '!' <> ''"),
	rowed(rowsBack, "SELECT group_concat(hex('notes_' || (rowid - "+strconv.Itoa(versions)+"))) FROM % WHERE rowid > "+strconv.Itoa(versions)),
}

const (
	rowsBack = "to read the rows back"
	creating = "CREATE TABLE notes_# (note VARCHAR(40) DEFAULT '!')"
	readBack = "to read it back"
	// versioning changes a number in the first page of a database of SQLite, and no table.
	versioning = "PRAGMA user_version = ~"
	versions   = 1_900_000_000
)

// stated is a form with a statement, in which "!" stands for the mark, "#" for its number, "~" for a number
// that is unlikely in a database, and "@" for a file outside.
func stated(name, statement string) form {
	return form{name: name, write: func(_ field, m inputs.Mark, _ int) string { return marked(statement, m) }}
}

// rowed is stated with "%" for the table of the honest statement.
func rowed(name, statement string) form {
	return form{name: name, write: func(f field, m inputs.Mark, _ int) string {
		return strings.Replace(marked(statement, m), "%", f.table(), 1)
	}}
}

// table returns the table that an honest statement reads; "" if that is not clear.
func (f field) table() string {
	if found := fromTable.FindStringSubmatch(f.value); found != nil {
		return found[1]
	}
	return ""
}

var fromTable = lazyregexp.New(`(?i)\bFROM\s+["\x60]?([A-Za-z_]\w{0,63})["\x60]?(?:$|[\s;])`)

func marked(statement string, m inputs.Mark) string {
	return strings.NewReplacer("!", m.ID(), "#", strconv.Itoa(m.Call), "~", strconv.Itoa(versions+m.Call), "@", m.OutsideFile()).Replace(statement)
}

// statementLike matches statements.
var statementLike = lazyregexp.New(`(?is)^\s*(?:SELECT|WITH|SHOW|EXPLAIN|DESCRIBE|INSERT|UPDATE|DELETE|CREATE)\s+\S`)

// forStatement matches names of fields for statements.
var forStatement = lazyregexp.New(`(?i)(?:^|[_.-])(?:sql|statement)(?:$|[_.-])`)

// writeSteps returns the attempts of family Write, in fields that take statements.
func writeSteps(fields []field) []step {
	var lists [][]step
	for _, f := range fields {
		if !f.text || !statementLike.MatchString(f.value) && !forStatement.MatchString(f.name) {
			continue
		}
		forms := writeForms
		if f.table() != "" {
			forms = slices.Concat(forms, rowForms)
		}
		lists = append(lists, formed(Write, forms, []field{f}))
	}
	return alternate(lists...)
}

// Transactions follows the statements of one connection.
type Transactions struct {
	protocol string
	// readOnly: the open transaction is read-only; always: so are later ones.
	readOnly, always bool
}

// NewTransactions returns the state of a new connection.
func NewTransactions(protocol string) *Transactions { return &Transactions{protocol: protocol} }

// Take takes the next statement, and returns the parts that change something, if
// the database would let them: not in a read-only transaction, nor as one of several commands that are prepared, or that
// a client of MySQL sends without enabling that.
func (t *Transactions) Take(q Asked) (writes []string) {
	commands := t.commands(q.Text)
	if len(commands) > 1 && (q.Prepared || t.protocol == "mysql") {
		return nil
	}
	for _, c := range commands {
		if !t.controls(c.plain) && !t.readOnly && changes.MatchString(c.plain) {
			writes = append(writes, c.text)
		}
	}
	return writes
}

// controls takes a command that begins, ends or restricts a transaction; false for others.
func (t *Transactions) controls(plain string) bool {
	reads, writes := toRead.MatchString(plain), toWrite.MatchString(plain)
	switch {
	case begins.MatchString(plain):
		t.readOnly = (t.always || reads) && !writes
	case undoes.MatchString(plain):
	case ends.MatchString(plain):
		t.readOnly = t.always
	case setsAll.MatchString(plain):
		t.always, t.readOnly = reads, reads
	case setsOne.MatchString(plain):
		t.readOnly = reads || t.readOnly && !writes
	default:
		return false
	}
	return true
}

// writing are the commands that change something.
const writing = `(?:INSERT|UPDATE|DELETE|MERGE|REPLACE|CREATE|ALTER|DROP|TRUNCATE|GRANT|REVOKE|RENAME)\b`

// The commands, in capital letters.
var (
	begins  = lazyregexp.New(`^(?:BEGIN|START TRANSACTION)\b`)
	ends    = lazyregexp.New(`^(?:COMMIT|END|ROLLBACK|ABORT)\b`)
	undoes  = lazyregexp.New(`^ROLLBACK (?:WORK |TRANSACTION )?TO\b`)
	setsAll = lazyregexp.New(`^SET\b.*(?:\bSESSION\b.*\bTRANSACTION\b|\bDEFAULT_TRANSACTION_READ_ONLY\b)`)
	setsOne = lazyregexp.New(`^SET (?:LOCAL )?TRANSACTION\b`)
	toRead  = lazyregexp.New(`\bREAD ONLY\b|_READ_ONLY ?(?:=|TO) ?(?:ON\b|TRUE\b|1\b|'')`)
	toWrite = lazyregexp.New(`\bREAD WRITE\b`)
	changes = lazyregexp.New(`^` + writing + `|^EXPLAIN\b.*\bANALY[SZ]E\b.*?\b` + writing + `|^WITH\b.*\b(?:INSERT INTO|DELETE FROM|MERGE INTO|UPDATE \S+ SET)\b` +
		`|^SELECT\b.*\bINTO\b|^COPY\b.*\b(?:FROM|TO PROGRAM)\b|^COPY\b.*\bTO ''`)
)

// command is a part of a statement, and the same in capital letters without comments and quoted
// texts.
type command struct{ text, plain string }

// commands splits a statement.
func (t *Transactions) commands(statement string) (all []command) {
	var plain strings.Builder
	begin := 0
	end := func(at int) {
		if text := strings.Join(strings.Fields(plain.String()), " "); text != "" {
			all = append(all, command{statement[begin:at], strings.ToUpper(text)})
		}
		plain.Reset()
		begin = at + 1
	}
	for i := 0; i < len(statement); {
		next, kind := token(t.protocol, statement, i)
		switch {
		case kind == "" && statement[i] == ';':
			end(i)
		case kind == "":
			plain.WriteString(statement[i:next])
		case kind == "-":
			plain.WriteByte(' ')
		default:
			plain.WriteString("''")
		}
		i = next
	}
	end(len(statement))
	return all
}
