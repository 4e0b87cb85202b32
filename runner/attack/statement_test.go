package attack

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

func pgMessage(kind, body string) string {
	return kind + string(binary.BigEndian.AppendUint32(nil, uint32(len(body)+5))) + body + "\x00"
}

// TestQueries: statements are found by their lengths, wherever they stand.
func TestQueries(t *testing.T) {
	query := "SELECT * FROM notes WHERE name = 'marlow-c7'"
	for name, tc := range map[string]struct {
		protocol, sent string
		want           []Asked
	}{
		"Query":            {"postgres", "start" + pgMessage("Q", "BEGIN") + pgMessage("p", "secret") + pgMessage("Q", query), []Asked{{Text: "BEGIN"}, {Text: query}}},
		"Parse":            {"postgres", pgMessage("P", "s1\x00"+query+"\x00\x00"), []Asked{{query, true}}},
		"a parameter":      {"postgres", pgMessage("B", "\x00s1\x00marlow-c7"), nil},
		"COM_QUERY":        {"mysql", "login" + string([]byte{byte(len(query) + 1), 0, 0, 0, 3}) + query, []Asked{{Text: query}}},
		"COM_STMT_EXECUTE": {"mysql", string([]byte{byte(len(query) + 1), 0, 0, 0, 23}) + query, nil},
		"cut off":          {"postgres", pgMessage("Q", query)[:40], nil},
	} {
		if got := Queries(tc.protocol, []byte(tc.sent)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestQuoted: what stands in quotes as each database reads them.
func TestQuoted(t *testing.T) {
	for _, tc := range []struct{ protocol, statement, want string }{
		{"postgres", "SELECT 'a mark'", "'"},
		{"postgres", "SELECT 'a'' mark'", "'"},
		{"postgres", "SELECT 'a' mark", ""},
		{"postgres", `SELECT 'a\' mark`, ""},
		{"postgres", `SELECT E'a\' mark'`, "'"},
		{"postgres", `SELECT "a mark"`, `"`},
		{"postgres", "SELECT $$a ' mark$$", "$"},
		{"postgres", "SELECT $q$a $$ mark$q$", "$"},
		{"postgres", "SELECT $1, mark", ""},
		{"postgres", "SELECT 1 -- it's\n, mark", ""},
		{"postgres", "SELECT 1 -- mark", "-"},
		{"postgres", "/* it's */ mark", ""},
		{"mysql", `SELECT 'a\' mark'`, "'"},
		{"mysql", `SELECT 'a\\' mark`, ""},
		{"mysql", "SELECT `a mark`", "`"},
		{"mysql", "SELECT 1 # mark", "-"},
	} {
		if got, found := Quoted(tc.protocol, tc.statement, "mark"); !found || got != tc.want {
			t.Errorf("%s: %q, %v, want %q", tc.statement, got, found, tc.want)
		}
	}
	if _, found := Quoted("mysql", "SELECT 1", "mark"); found {
		t.Error("a text that is not there was found")
	}
}

// FuzzQueries: whatever a server sends, reading it ends.
func FuzzQueries(f *testing.F) {
	f.Add("postgres", pgMessage("Q", "SELECT E'\\', $a$ mark"))
	f.Add("mysql", "\x0a\x00\x00\x00\x03SELECT `mark")
	f.Add("postgres", strings.Repeat("Q\x00\x00\x00\x09mark", 9))
	f.Fuzz(func(t *testing.T, protocol, sent string) {
		follow := NewTransactions(protocol)
		for _, q := range append(Queries(protocol, []byte(sent)), Asked{Text: sent}) {
			for _, part := range follow.Take(q) {
				if !strings.Contains(q.Text, part) {
					t.Errorf("%q is no part of %q", part, q.Text)
				}
			}
			if _, found := Quoted(protocol, q.Text, "mark"); found != strings.Contains(q.Text, "mark") {
				t.Errorf("%q: %v", q.Text, found)
			}
		}
	})
}
