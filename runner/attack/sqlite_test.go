package attack

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

// TestStored: only a page of a database, with the whole statement, shows that it was carried out.
func TestStored(t *testing.T) {
	const text = "CREATE TABLE notes_7 (note VARCHAR(40) DEFAULT 'marlow-c7')"
	for page, want := range map[string]string{
		magic + "\x10\x00" + text: text,
		magic + "CREATE TABLE notes_8 (note VARCHAR(40) DEFAULT 'marlow-c7')": "",
		"query: " + text: "",
		magic:            "",
		"":               "",
	} {
		if got, ok := Stored([]byte(page)); got.Text != want || ok != (want != "") {
			t.Errorf("%q: %q, want %q", page, got.Text, want)
		}
	}
}

// TestVersioned: the number in the header of a database that an attempt has set.
func TestVersioned(t *testing.T) {
	page := func(number uint32) []byte {
		page := append([]byte(magic), make([]byte, 100)...)
		binary.BigEndian.PutUint32(page[60:], number)
		return page
	}
	if s, ok := Stored(page(versions + 7)); !ok || s.Text != "PRAGMA user_version = 1900000007 -- marlow-c7" || len(s.Writes) != 1 {
		t.Errorf("%+v, %v", s, ok)
	}
	for _, number := range []uint32{0, 7, versions, versions + mostVersions, 1<<32 - 1} {
		if s, ok := Stored(page(number)); ok {
			t.Errorf("%d: %+v", number, s)
		}
	}
}

// TestReadBack: the names of tables come back in hexadecimal digits; what was sent does not count.
func TestReadBack(t *testing.T) {
	name := func(text string) string { return strings.ToUpper(hex.EncodeToString([]byte(text))) }
	for answer, want := range map[string]string{
		"[('" + name("notes_7") + "," + name("notes_12") + "',)]": "marlow-c7 marlow-c12",
		name("notes_copy"):       "",
		name("notes_7") + "41":   "",
		name("notes_9999999999"): "",
		name("notes_8"):          "", // which nobody has sent
		"CREATE TABLE notes_7":   "",
	} {
		var marks []string
		var attempts []Attempt
		for _, call := range []int{7, 12} {
			attempts = append(attempts, Attempt{Family: Write, Call: call, Value: made(call).Text})
		}
		attempts = append(attempts, Attempt{Family: Write, Form: readBack, Answer: answer})
		for _, s := range ReadBack(attempts, time.Time{}) {
			_, mark, _ := strings.Cut(s.Text, "'")
			marks = append(marks, strings.TrimSuffix(mark, "')"))
		}
		if got := strings.Join(marks, " "); got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
	}
	if got := ReadBack([]Attempt{{Family: Write, Form: "as the statement", Answer: name("notes_7")}}, time.Time{}); got != nil {
		t.Errorf("the answer to another statement counts: %q", got)
	}
}

// TestDatabase: files of databases and the library that reads them, by their names.
func TestDatabase(t *testing.T) {
	for path, want := range map[string]bool{
		"/data/shelf.db": true, "/data/notes.sqlite3-wal": true, "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0": true,
		"/usr/lib/python3/lib-dynload/_sqlite3.cpython-311-x86_64-linux-gnu.so": true, "/app/node_modules/better-sqlite3/build/Release/better_sqlite3.node": true,
		"/data/db.txt": false, "/usr/lib/sqlite/README": false,
	} {
		if got := Database(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
