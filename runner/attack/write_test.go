package attack

import (
	"strings"
	"testing"
)

// TestTransactions: what changes something, by the transaction that it is in.
func TestTransactions(t *testing.T) {
	const create, insert = "CREATE TABLE c (a INT)", "INSERT INTO notes VALUES ('COMMIT; x')"
	for name, tc := range map[string]struct {
		protocol   string
		statements []string
		want       string
	}{
		"a read":                  {"postgres", []string{"SELECT 'DELETE FROM x' AS a, \"INTO\" FROM notes"}, ""},
		"a write":                 {"postgres", []string{create}, create},
		"read-only":               {"postgres", []string{"BEGIN TRANSACTION READ ONLY", create, insert}, ""},
		"behind a commit":         {"postgres", []string{"BEGIN TRANSACTION READ ONLY", "COMMIT; " + create}, " " + create},
		"behind a savepoint":      {"postgres", []string{"START TRANSACTION READ ONLY", "ROLLBACK TO a; " + create}, ""},
		"made writable":           {"postgres", []string{"begin; set transaction read only", "SET TRANSACTION READ WRITE", insert}, insert},
		"a session":               {"postgres", []string{"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "COMMIT", create}, ""},
		"a setting":               {"postgres", []string{"SET default_transaction_read_only = on;", create}, ""},
		"a setting, with quotes":  {"postgres", []string{"SET default_transaction_read_only TO 'on'", create}, ""},
		"undone by a setting":     {"postgres", []string{"SET default_transaction_read_only = on", "SET default_transaction_read_only = off; " + create}, " " + create},
		"a CTE":                   {"postgres", []string{"WITH t AS (" + insert + " RETURNING 1) SELECT * FROM t"}, "WITH t AS (" + insert + " RETURNING 1) SELECT * FROM t"},
		"a CTE that reads":        {"postgres", []string{"WITH updates AS (SELECT 1) SELECT * FROM updates"}, ""},
		"explained":               {"postgres", []string{"EXPLAIN " + insert}, ""},
		"explained by doing it":   {"postgres", []string{"EXPLAIN (ANALYZE, BUFFERS) DELETE FROM notes"}, "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM notes"},
		"into a table":            {"postgres", []string{"SELECT 1 INTO c"}, "SELECT 1 INTO c"},
		"to a program":            {"postgres", []string{"COPY (SELECT 1) TO PROGRAM 'id'"}, "COPY (SELECT 1) TO PROGRAM 'id'"},
		"to the client":           {"postgres", []string{"COPY notes TO STDOUT"}, ""},
		"into a file":             {"mysql", []string{"SELECT 1 INTO OUTFILE '/tmp/x'"}, "SELECT 1 INTO OUTFILE '/tmp/x'"},
		"several in MySQL":        {"mysql", []string{"SELECT 1; " + create}, ""},
		"a comment":               {"mysql", []string{"/* SELECT */ " + insert + " # ; x"}, "/* SELECT */ " + insert + " # ; x"},
		"a semicolon in a string": {"postgres", []string{"SELECT '; DROP TABLE notes'"}, ""},
	} {
		follow, got := NewTransactions(tc.protocol), ""
		for _, s := range tc.statements {
			got += strings.Join(follow.Take(Asked{Text: s}), "|")
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
	if got := NewTransactions("postgres").Take(Asked{"SELECT 1; " + create, true}); got != nil {
		t.Errorf("several commands that are prepared: %q", got)
	}
}
