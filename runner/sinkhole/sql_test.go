package sinkhole

import (
	"context"
	"database/sql"
	"net"
	"net/netip"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func TestReadStatement(t *testing.T) {
	for _, tc := range []struct {
		query   string
		written bool
		want    statement
	}{
		{"SELECT 1", false, statement{verb: "SELECT", columns: []string{"?column?"}, one: true}},
		{"select version(), current_user as me", false, statement{verb: "SELECT", columns: []string{"version", "me"}, one: true}},
		{"SELECT VERSION(), @@version", true, statement{verb: "SELECT", columns: []string{"VERSION()", "@@version"}, one: true}},
		{"SELECT t.table_name, (SELECT max(a) FROM b) AS \"top\" FROM t WHERE x = $2 AND y = '$9 from'", false, statement{verb: "SELECT", columns: []string{"table_name", "top"}, parameters: 2}},
		{"/* a */ WITH a AS (SELECT b FROM c) SELECT count(*) FROM a; -- end", false, statement{verb: "WITH", columns: []string{"count"}, one: true}},
		{"SELECT * FROM notes WHERE id IN (?, ?)", true, statement{verb: "SELECT", columns: []string{"id", "name"}, parameters: 2}},
		{"INSERT INTO notes VALUES (?) RETURNING id", false, statement{verb: "INSERT", columns: []string{"id"}, parameters: 1}},
		{"INSERT INTO notes VALUES ('?')", true, statement{verb: "INSERT"}},
		{"SHOW TABLES", true, statement{verb: "SHOW", columns: []string{"name"}}},
		{" ", false, statement{}},
	} {
		if diff := cmp.Diff(tc.want, readStatement(tc.query, tc.written), cmp.AllowUnexported(statement{})); diff != "" {
			t.Errorf("%s:\n%s", tc.query, diff)
		}
	}
}

func FuzzReadStatement(f *testing.F) {
	f.Add("SELECT a, `b` AS c, f(x, 'y)') FROM (SELECT 1) t WHERE d = $1", true)
	f.Add("((((select", false)
	f.Fuzz(func(t *testing.T, query string, written bool) {
		s := readStatement(query, written)
		if len(s.columns) > maxColumns+1 || s.parameters > maxParameters {
			t.Errorf("%d columns, %d parameters", len(s.columns), s.parameters)
		}
		_ = mysqlRows(s, written) // must not panic
	})
}

// converse serves one connection to a port and returns its client's end.
func converse(t *testing.T, port uint16) net.Conn {
	t.Helper()
	client, ours := net.Pipe()
	s := &Server{names: newNames(), answers: newAnswers(), captures: make(chan Capture), budget: newBudget(maxKept), stopped: make(chan struct{})}
	go func() {
		for range s.captures {
		}
	}()
	to := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), port)
	go func() {
		flow := s.newFlow(to, to, "tcp")
		newConversation(s, flow, ours, to).serve()
		flow.end()
		_ = ours.Close() // the client closes the other end
		s.Close()
	}()
	return client
}

// A client of PostgreSQL gets in, asks in text and with parameters, and finds nothing.
func TestPostgresSession(t *testing.T) {
	for _, version := range []string{"3.0", "3.2"} {
		t.Run(version, func(t *testing.T) { testPostgresSession(t, version) })
	}
}

func testPostgresSession(t *testing.T, protocol string) {
	config, err := pgx.ParseConfig("postgres://joe:secret@db.example/notes?sslmode=disable&max_protocol_version=" + protocol)
	if err != nil {
		t.Fatal(err)
	}
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) { return converse(t, 5432), nil }
	config.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"192.0.2.1"}, nil }
	ctx := t.Context()
	client, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	var version, count string
	if err := client.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil || version == "" {
		t.Errorf("the version is %q, %v", version, err)
	}
	if err := client.QueryRow(ctx, "SELECT count(*) FROM notes WHERE name = $1", "milk").Scan(&count); err != nil || count != "0" {
		t.Errorf("there are %q notes, %v", count, err)
	}
	rows, err := client.Query(ctx, "SELECT id, name FROM notes", pgx.QueryExecModeSimpleProtocol)
	if err != nil || rows.Next() || len(rows.FieldDescriptions()) != 2 || rows.Err() != nil {
		t.Errorf("the notes are %+v, %v", rows, err)
	}
	for _, query := range []string{"BEGIN", "INSERT INTO notes VALUES (1)", "COMMIT"} {
		if _, err := client.Exec(ctx, query); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
}

// So does one of MySQL.
func TestMySQLSession(t *testing.T) {
	mysql.RegisterDialContext("pipe", func(context.Context, string) (net.Conn, error) { return converse(t, 3306), nil })
	db, err := sql.Open("mysql", "joe:secret@pipe(db.example)/notes")
	if err != nil {
		t.Fatal(err)
	}
	var version, count string
	if err := db.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil || version == "" {
		t.Errorf("the version is %q, %v", version, err)
	}
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM notes WHERE name = ?", "milk").Scan(&count); err != nil || count != "0" {
		t.Errorf("there are %q notes, %v", count, err)
	}
	rows, err := db.QueryContext(t.Context(), "SELECT id, name FROM notes")
	if err != nil {
		t.Fatal(err)
	}
	if columns, err := rows.Columns(); len(columns) != 2 || err != nil || rows.Next() || rows.Err() != nil {
		t.Errorf("the notes are %q, %v, %v", columns, err, rows.Err())
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO notes VALUES (?)", 1); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
