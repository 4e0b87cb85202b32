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

// Stored is the statement with a mark that made a table, in the first page of a database as it was
// written to its file or its log; false where there is none. SQLite writes what a transaction has
// changed when that ends.
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

// The header of a database, where it has the number that PRAGMA user_version sets, and how many of
// those are ours.
const (
	headerSize   = 100
	userVersion  = 60
	mostVersions = 10_000_000
)

// ReadBack are the statements that made a table, or a row, in a database of SQLite, as answers to the last of the
// attempts to write say in hexadecimal digits, which no server makes of what it was sent. They were there
// at the time given.
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

// tables are the names of those that attempts make, and rows written alike, in hexadecimal digits: "notes_" and a number.
var tables = lazyregexp.New(`(?i)\b` + hex.EncodeToString([]byte("notes_")) + `((?:3\d){1,9})\b`)

// maxTables is how many of them are read in one answer.
const maxTables = 64

// made is the statement that made the table of the attempt with a mark of that number.
func made(call int) Statement {
	text := marked(creating, inputs.Mark{Call: call})
	return Statement{Protocol: "sqlite", Text: text, Writes: []string{text}}
}
