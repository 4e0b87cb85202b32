package sinkhole

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// The codes that a session of PostgreSQL may begin with, and the major version in those of a StartupMessage.
const (
	pgSSL   = 80877103
	pgGSS   = 80877104
	pgMajor = 3
)

// maxStartup bounds the messages of PostgreSQL before anybody is let in, in
// bytes (MAX_STARTUP_PACKET_LENGTH).
const maxStartup = 10000

// postgres terminates TLS on request, asks for the password in the clear, and has a
// database without rows.
func (t *conversation) postgres() {
	t.flow.describe("postgres", t.host, "PostgreSQL start")
	in := t.received()
	for {
		t.wait(patience)
		body, err := readMessage(in)
		if err != nil || len(body) < 4 {
			return
		}
		switch code := binary.BigEndian.Uint32(body); {
		case code == pgSSL:
			if t.say("S") {
				newConversation(t.server, t.flow, t.conn, t.to).tls()
			}
			return
		case code == pgGSS:
			if !t.say("N") {
				return
			}
		case code>>16 == pgMajor:
			t.pgSession(in, code&0xffff > 0, body[4:])
			return
		default:
			return
		}
	}
}

// maxStatements bounds the prepared statements of a session and the statements of a query, by number, and maxStatementName
// the name of one, in bytes (PostgreSQL's NAMEDATALEN).
// betweenQueries is how long the next query may take: clients keep sessions open.
const (
	maxStatements    = 256
	maxStatementName = 63
	betweenQueries   = 2 * time.Minute
)

// pgSession serves a client after its startup message. It accepts any password. Like PostgreSQL 16 it speaks 3.0 to a client
// that asks for a newer minor version.
func (t *conversation) pgSession(in io.Reader, newer bool, parameters []byte) {
	t.flow.describe("postgres", "", "PostgreSQL start "+strings.ReplaceAll(strings.Trim(string(parameters), "\x00"), "\x00", " "))
	s := &pgSession{Backend: pgproto3.NewBackend(in, t.conn), prepared: map[string]statement{}, status: 'I'}
	s.SetMaxBodyLen(1 << 20)
	if newer {
		s.Send(&pgproto3.NegotiateProtocolVersion{})
	}
	s.Send(&pgproto3.AuthenticationCleartextPassword{})
	if s.Flush() != nil || s.SetAuthType(pgproto3.AuthTypeCleartextPassword) != nil {
		return
	}
	t.wait(patience)
	if _, err := s.Receive(); err != nil {
		return
	}
	s.Send(&pgproto3.AuthenticationOk{})
	for name, value := range pgSettings {
		s.Send(&pgproto3.ParameterStatus{Name: name, Value: value})
	}
	s.Send(&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{0, 0, 0, 1}})
	s.Send(&pgproto3.ReadyForQuery{TxStatus: s.status})
	for t.pgFlush(s) == nil {
		t.wait(betweenQueries)
		message, err := s.Receive()
		if err != nil || !s.answer(message) {
			return
		}
	}
}

func (t *conversation) pgFlush(s *pgSession) error {
	_ = t.conn.SetWriteDeadline(time.Now().Add(patience)) // a closed connection fails the write as well
	return s.Flush()
}

// pgSettings are parameters that clients are told at the start and rely on (PostgreSQL,
// 55.2.7).
var pgSettings = map[string]string{
	"server_version": "16.3", "server_encoding": "UTF8", "client_encoding": "UTF8", "DateStyle": "ISO, MDY", "TimeZone": "UTC",
	"integer_datetimes": "on", "standard_conforming_strings": "on", "is_superuser": "off",
}

// pgSession holds the state of a session: its prepared statements, the one that is bound,
// and whether a transaction is open.
type pgSession struct {
	*pgproto3.Backend
	prepared map[string]statement
	bound    statement
	status   byte
}

// prepare keeps a statement, within the bounds.
func (s *pgSession) prepare(m *pgproto3.Parse) {
	if len(s.prepared) < maxStatements && len(m.Name) <= maxStatementName {
		s.prepared[m.Name] = readStatement(m.Query[:min(len(m.Query), maxQuery)], false)
	}
	s.Send(&pgproto3.ParseComplete{})
}

// answer answers a message; it returns false after the last.
func (s *pgSession) answer(message pgproto3.FrontendMessage) bool {
	switch m := message.(type) {
	case *pgproto3.Query:
		parts := strings.SplitN(m.String[:min(len(m.String), maxQuery)], ";", maxStatements)
		for i, part := range parts {
			if i == 0 || strings.TrimSpace(part) != "" {
				s.bound = readStatement(part, false)
				s.describe(s.bound)
				s.run()
			}
		}
		s.Send(&pgproto3.ReadyForQuery{TxStatus: s.status})
	case *pgproto3.Parse:
		s.prepare(m)
	case *pgproto3.Bind:
		s.bound = s.prepared[m.PreparedStatement]
		s.Send(&pgproto3.BindComplete{})
	case *pgproto3.Describe:
		described := s.bound
		if m.ObjectType == 'S' {
			described = s.prepared[m.Name]
			s.Send(&pgproto3.ParameterDescription{ParameterOIDs: slices.Repeat([]uint32{pgText}, described.parameters)})
		}
		if !s.describe(described) {
			s.Send(&pgproto3.NoData{})
		}
	case *pgproto3.Execute:
		s.run()
	case *pgproto3.Close:
		delete(s.prepared, m.Name)
		s.Send(&pgproto3.CloseComplete{})
	case *pgproto3.Sync:
		s.Send(&pgproto3.ReadyForQuery{TxStatus: s.status})
	case *pgproto3.Terminate:
		return false
	}
	return true
}

// pgText is the type of all columns and parameters (pg_type.oid of text).
const pgText = 25

// describe sends the columns of a statement; false if it has none.
func (s *pgSession) describe(of statement) bool {
	if of.columns == nil {
		return false
	}
	description := &pgproto3.RowDescription{}
	for _, column := range of.columns {
		description.Fields = append(description.Fields, pgproto3.FieldDescription{
			Name: []byte(column), DataTypeOID: pgText, DataTypeSize: -1, TypeModifier: -1,
		})
	}
	s.Send(description)
	return true
}

// run executes the bound statement: it sends its rows and the command tag.
func (s *pgSession) run() {
	switch s.bound.verb {
	case "":
		s.Send(&pgproto3.EmptyQueryResponse{})
		return
	case "BEGIN", "START":
		s.status = 'T'
	case "COMMIT", "ROLLBACK", "END", "ABORT":
		s.status = 'I'
	}
	rows := 0
	if s.bound.one {
		rows = 1
		row := &pgproto3.DataRow{}
		for _, column := range s.bound.columns {
			row.Values = append(row.Values, []byte(s.bound.cell(column)))
		}
		s.Send(row)
	}
	tag := s.bound.verb
	switch {
	case tag == "INSERT":
		tag = "INSERT 0 1"
	case tag == "UPDATE" || tag == "DELETE":
		tag += " 1"
	case s.bound.columns != nil:
		tag = fmt.Sprintf("SELECT %d", rows)
	}
	s.Send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
}

var errMessage = errors.New("not a message of PostgreSQL")

// readMessage reads the body of a message behind its length, which counts itself.
func readMessage(in io.Reader) ([]byte, error) {
	header := make([]byte, 4)
	if _, err := io.ReadFull(in, header); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(header)
	if length < 4 || length > maxStartup {
		return nil, errMessage
	}
	body := make([]byte, length-4)
	_, err := io.ReadFull(in, body)
	return body, err
}
