package attack

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/mcpaudit/mcpaudit/runner/inputs"
	"github.com/mcpaudit/mcpaudit/runner/lazyregexp"
)

// magic begins the first page of a database of SQLite (https://sqlite.org/fileformat2.html, 1.3),
// which has the statements that made its tables.
const magic = "SQLite format 3\x00"

// Database reports whether a path names a database or the library of SQLite.
func Database(path string) bool { return files.MatchString(path) }

var files = lazyregexp.New(`(?i)\.(?:db|db3|sqlite|sqlite3|duckdb)(?:-(?:wal|shm|journal))?$|/_?(?:better_)?(?:lib)?sqlite3?[^/]*\.(?:so[\d.]*|node)$`)

// Stored returns the statement with a mark that created a table, in the first page of a database as
// written to its file or its log; false for none. SQLite writes the changes of a transaction at its end.
func Stored(page []byte) (Statement, bool) {
	if !bytes.HasPrefix(page, []byte(magic)) {
		return Statement{}, false
	}
	for _, id := range inputs.Marks(page) {
		call, _ := inputs.Marked(id)
		if s := made(call); bytes.Contains(page, []byte(s.Text)) {
			return s, true
		}
	}
	if len(page) < headerSize {
		return Statement{}, false
	}
	call := int(binary.BigEndian.Uint32(page[userVersion:])) - versions
	if call <= 0 || call >= mostVersions {
		return Statement{}, false
	}
	s := Statement{Protocol: "sqlite", Text: marked(versioning+" -- !", inputs.Mark{Call: call})}
	s.Writes = []string{s.Text}
	return s, true
}

// The header of a database, the offset of the number that PRAGMA user_version sets, and the range of ours.
const (
	headerSize   = 100
	userVersion  = 60
	mostVersions = 10_000_000
)

// ReadBack returns the statements that created a table, or a row, in an SQLite database, by the answers to the last
// attempts to write: these are in hexadecimal digits, so they cannot be echoes. They were there at the time given.
func ReadBack(attempts []Attempt, at time.Time) (all []Statement) {
	sent := map[string]string{}
	for _, a := range attempts {
		if a.Family == Write {
			sent[strconv.Itoa(a.Call)] = a.Value
		}
		if a.Family != Write || a.Form != readBack && a.Form != rowsBack {
			continue
		}
		for _, found := range tables.FindAllStringSubmatch(a.Answer, maxTables) {
			digits, _ := hex.DecodeString(found[1]) // pairs of digits: no error
			if text, known := sent[string(digits)]; known {
				all = append(all, Statement{Protocol: "sqlite", Text: text, Writes: []string{text}, Time: at})
			}
		}
	}
	return all
}

// tables matches the names of tables of attempts, and rows in the same form, in hexadecimal digits: "notes_" and a number.
var tables = lazyregexp.New(`(?i)\b` + hex.EncodeToString([]byte("notes_")) + `((?:3\d){1,9})\b`)

const maxTables = 64 // in one answer

// made returns the statement that creates the table of the attempt with a mark of that number.
func made(call int) Statement {
	text := marked(creating, inputs.Mark{Call: call})
	return Statement{Protocol: "sqlite", Text: text, Writes: []string{text}}
}
