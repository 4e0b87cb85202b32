// Package profile condenses the events of a trace into what the server did:
// distinct effects, each with the first call that showed it, how often it was
// seen and in which part of the session.
//
// It is pure, and a record, not a judgement: runner/rules judges it. The audit
// feeds a Builder while the trace runs; the ledger, which says what the server
// was asked when, comes at the end.
package profile

import (
	"time"

	"github.com/mcpaudit/mcpaudit/api/report"
	"github.com/mcpaudit/mcpaudit/runner/ledger"
)

// Kind is a kind of effect.
type Kind string

// The kinds.
const (
	// KindRead: a file was opened with success so that it can be read, or got a
	// name, or a descriptor, by which it can be without its old name: by a
	// rename, a hard link, or O_PATH. KindList: the same of a directory.
	KindRead Kind = "Read"
	KindList Kind = "List"
	// KindWrite: a file was created, opened for writing, renamed, removed or
	// changed in its attributes, with success.
	KindWrite Kind = "Write"
	// KindAttempt: an access to a file failed. It says that the server looked,
	// not that it saw anything.
	KindAttempt Kind = "Attempt"
	// KindExec: a program was started, or (with an Error) was to be.
	KindExec Kind = "Exec"
	// KindConnect: an address was connected to or sent to, with or without
	// success. KindListen: connections or datagrams were waited for.
	KindConnect Kind = "Connect"
	KindListen  Kind = "Listen"
	// KindEvade: a call that could hide something from the tracer.
	KindEvade Kind = "Evade"
)

// Effect is something that the server did, once or more, in one part of the
// session. Which fields are set depends on the kind.
type Effect struct {
	Kind Kind
	ledger.Where
	// Path of a file, a program, or a unix socket; absolute and clean.
	Path string
	// Operation is the system call, such as "openat" or "unlink".
	Operation string
	// Error is the errno name when it failed; "?" when it never returned. A
	// connection that was only begun (EINPROGRESS) has none.
	Error string
	// Argv of an exec.
	Argv []string
	// Refused: the tracer failed the call on purpose. Blinded: its arguments
	// could not be read.
	Refused, Blinded bool
	// Address, Port, Protocol and Host are those of report.Connection.
	Address  string
	Port     int
	Protocol string
	Host     string

	// Count is how often; at least 1.
	Count int
	// Time, PID and Detail are those of the first such call.
	Time   time.Time
	PID    int
	Detail string
}

// Evidence is the first call that showed the effect.
func (e Effect) Evidence() report.Evidence {
	return report.Evidence{Time: e.Time, PID: e.PID, Syscall: e.Operation, Detail: e.Detail, Attribution: e.Attribution}
}

// Connection is the end point of a KindConnect or KindListen.
func (e Effect) Connection() report.Connection {
	return report.Connection{Address: e.Address, Port: e.Port, Protocol: e.Protocol, Host: e.Host, Error: e.Error, Count: e.Count}
}

// Profile is what the server did.
type Profile struct {
	// Effects in the order in which they were first seen.
	Effects []Effect
	// Ordinary counts the events that every program makes (loading libraries,
	// reading the locale); they are no effects.
	Ordinary int
	// Dropped counts events that there was no room for. Not 0: whoever judges
	// this profile has not seen everything.
	Dropped int
}
